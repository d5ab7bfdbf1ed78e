#include "server/gateway/gateway.h"

#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/token.h"
#include "executor/wire/field_limits.h"
#include "nlohmann/json.hpp"
#include "server/calls/method_roles.h"
#include "server/gateway/cookies.h"
#include "server/gateway/error_answer.h"
#include "server/gateway/json_message.h"
#include "server/gateway/same_origin.h"
#include "server/services/metrics_page.h"

namespace meshwright::server {
namespace {

// In JSON a text may take twice its bytes.
constexpr uint64_t kMostCallBytes = 2 * uint64_t{wire::kMaxRequestBytes};
constexpr uint64_t kMostOtherBytes = 4096;
// A browser opens up to six.
constexpr size_t kMostConnections = 1024;
constexpr size_t kMostPathShown = 100;

constexpr char kMetricsPath[] = "/metrics";
constexpr char kLoginPath[] = "/login";
constexpr char kLogoutPath[] = "/logout";
constexpr char kSessionPath[] = "/session";

HttpResponse MethodNotAllowed(const std::string& path, const char* allow) {
  HttpResponse answer =
      ErrorAnswer(absl::UnimplementedError(absl::StrCat(path, " must be asked by ", allow)));
  answer.status = 405;
  answer.fields.push_back({"Allow", allow});
  return answer;
}

HttpResponse RefusalOf(const absl::Status& status) {
  HttpResponse answer = ErrorAnswer(status);
  if (answer.status == 401) answer.fields.push_back({"WWW-Authenticate", "Bearer"});
  return answer;
}

absl::Status NoSuchPage(const std::string& path) {
  return absl::NotFoundError(
      absl::StrCat("this server has no ", EscapeControls(ShortText(path, kMostPathShown)),
                   ": its page is at /, and calls go to /meshwright.v1.SERVICE/METHOD"));
}

// A browser sends this type to another site only after asking it, which this server refuses.
bool IsJson(const HttpRequest& request) {
  const std::string_view type = request.Field("content-type").value_or("");
  const std::string_view name = type.substr(0, type.find(';'));
  return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(AbslView(name)), "application/json");
}

Credentials CredentialsOf(const HttpRequest& request) {
  Credentials credentials;
  for (const HttpField& field : request.fields) {
    if (field.name == "authorization") credentials.authorization.push_back(field.value);
  }
  if (const auto& certificate = request.connection.certificate) {
    credentials.has_certificate = true;
    credentials.certificate_pem = certificate->pem;
    credentials.certificate_uris = {certificate->uris.begin(), certificate->uris.end()};
  }
  return credentials;
}

absl::StatusOr<std::string> TokenIn(const std::string& body) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson("body", body));
  if (!json.is_object() || json.size() != 1 || !json.contains("token") ||
      !json["token"].is_string()) {
    // The text is not repeated: it may be a token.
    return absl::InvalidArgumentError(R"(a login's body must be {"token": "mwt_..."})");
  }
  return json["token"].get<std::string>();
}

std::string SessionCookie(const std::string& number, absl::Duration time) {
  return absl::StrCat(kSessionCookie, "=", number, "; Path=/; Secure; HttpOnly; SameSite=Strict; ",
                      "Max-Age=", absl::ToInt64Seconds(time));
}

// A page's script, style and data come from this server alone; pictures of the planner are in its
// answers.
std::vector<HttpField> SafetyFields() {
  return {{"Content-Security-Policy",
           "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; "
           "form-action 'self'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

}  // namespace

HttpService Gateway::Service() {
  return {.admit = [this](HttpRequest& head) { return Admit(head); },
          .handle =
              [this](HttpRequest request, const std::shared_ptr<HttpExchange>& exchange) {
                Handle(std::move(request), exchange);
              },
          .fields = SafetyFields()};
}

HttpLimits Gateway::ConnectionLimits() {
  return {.max_connections = kMostConnections, .body_bytes = kMostCallBytes};
}

Gateway::Gateway(GatewayOptions options, std::shared_ptr<grpc::Channel> channel,
                 const Access* access, Limits* limits)
    : options_(std::move(options)),
      access_(access),
      limits_(limits),
      files_(options_.files),
      sessions_(options_.clock),
      tries_(options_.monotonic_clock),
      calls_(std::move(channel), access, options_.stream_interval) {}

absl::Status Gateway::CheckKey(const HttpRequest& head) const {
  if (options_.key.empty()) return absl::OkStatus();
  if (head.CountOf(kKeyField) == 1 && db::SameHash(*head.Field(kKeyField), options_.key)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      "the request lacks the header X-Meshwright-Key with the key that the server made when it "
      "started: open the address that `meshwright ui` printed");
}

absl::Status Gateway::StillCounts(const Admitted& admitted) const {
  if (!admitted.caller) return absl::OkStatus();
  if (!admitted.session.empty() && !sessions_.Find(admitted.session)) {
    return absl::UnauthenticatedError("the session has ended: log in again");
  }
  return access_->StillCounts(*admitted.caller);
}

absl::StatusOr<Gateway::Admitted> Gateway::Identify(const HttpRequest& head, Kind kind) const {
  Admitted admitted{.kind = kind, .caller = std::nullopt, .session = {}};
  if (!access_->asks()) {
    RETURN_IF_ERROR(CheckKey(head));
    return admitted;
  }
  const Credentials credentials = CredentialsOf(head);
  const std::optional<std::string_view> number = CookieOf(head, kSessionCookie);
  if (credentials.authorization.empty() && number) {
    admitted.session = std::string(*number);
    admitted.caller = sessions_.Find(*number);
    if (admitted.caller) {
      RETURN_IF_ERROR(access_->StillCounts(*admitted.caller));
      return admitted;
    }
    admitted.session.clear();  // it has ended; a certificate may still say who calls
  }
  absl::StatusOr<Caller> caller = access_->Identify(credentials);
  if (!caller.ok()) return caller.status();
  admitted.caller = *std::move(caller);
  return admitted;
}

absl::StatusOr<Gateway::Admitted> Gateway::AdmitCall(const HttpRequest& head) {
  ASSIGN_OR_RETURN(Admitted admitted, Identify(head, Kind::kCall));
  if (admitted.caller) {
    RETURN_IF_ERROR(access_->CheckRole(head.path, *admitted.caller));
    RETURN_IF_ERROR(limits_->rates().Take(admitted.caller->ToText()));
  }
  if (FindJsonMethod(head.path) != nullptr) return admitted;
  return absl::UnimplementedError(absl::StrCat("this server has no method ",
                                               EscapeControls(ShortText(head.path, kMostPathShown)),
                                               " that can be called over HTTP"));
}

absl::StatusOr<Gateway::Admitted> Gateway::AdmitPost(const HttpRequest& head) {
  if (absl::StartsWith(head.path, "/meshwright.v1.")) return AdmitCall(head);
  if (head.path == kSessionPath) return Identify(head, Kind::kSession);
  if (head.path == kLogoutPath) return Identify(head, Kind::kLogout);
  if (head.path != kLoginPath) return NoSuchPage(head.path);
  if (!access_->asks()) {
    return absl::UnimplementedError(
        "this server listens on loopback without TLS and does not authenticate callers: there is "
        "no login");
  }
  RETURN_IF_ERROR(tries_.Take(head.connection.peer_address));
  return Admitted{.kind = Kind::kLogin, .caller = std::nullopt, .session = {}};
}

HttpAdmission Gateway::AdmitGet(HttpRequest& head) const {
  Admitted admitted{.kind = Kind::kFile, .caller = std::nullopt, .session = {}};
  if (head.path == kMetricsPath && options_.metrics != nullptr) {
    absl::StatusOr<Admitted> identified = Identify(head, Kind::kMetrics);
    if (!identified.ok()) return RefusalOf(identified.status());
    admitted = *std::move(identified);
    if (admitted.caller && !MayCall(admitted.caller->role, Needs::kViewer)) {
      return RefusalOf(absl::PermissionDeniedError(
          absl::StrCat("metrics are for the roles ", RolesThatMay(Needs::kViewer))));
    }
  }
  head.note = std::move(admitted);
  return uint64_t{0};
}

HttpAdmission Gateway::Admit(HttpRequest& head) {
  if (const absl::Status status = CheckHost(head, options_.names); !status.ok()) {
    return RefusalOf(status);
  }
  if (head.method == "GET" || head.method == "HEAD") return AdmitGet(head);
  if (head.method != "POST") return MethodNotAllowed("this address", "GET, HEAD, POST");
  if (const absl::Status status = CheckOrigin(head); !status.ok()) return RefusalOf(status);
  if (!IsJson(head)) {
    HttpResponse answer =
        ErrorAnswer(absl::InvalidArgumentError("a call's Content-Type must be application/json"));
    answer.status = 415;
    return answer;
  }
  absl::StatusOr<Admitted> admitted = AdmitPost(head);
  if (!admitted.ok()) return RefusalOf(admitted.status());
  const uint64_t most_bytes = admitted->kind == Kind::kCall ? kMostCallBytes : kMostOtherBytes;
  head.note = *std::move(admitted);
  return most_bytes;
}

void Gateway::Handle(HttpRequest request, const std::shared_ptr<HttpExchange>& exchange) {
  const auto admitted = std::any_cast<Admitted>(std::move(request.note));
  if (admitted.kind == Kind::kCall) return Call(std::move(request), admitted, exchange);
  exchange->Answer(AnswerTo(request, admitted));
}

HttpResponse Gateway::AnswerTo(const HttpRequest& request, const Admitted& admitted) {
  switch (admitted.kind) {
    case Kind::kLogin:
      return Login(request);
    case Kind::kLogout:
      return Logout(admitted);
    case Kind::kSession:
      return Session(admitted);
    case Kind::kMetrics:
      return MetricsAnswer(*options_.metrics);
    case Kind::kFile:
    case Kind::kCall:
      break;
  }
  return File(request);
}

void Gateway::Call(HttpRequest request, const Admitted& admitted,
                   const std::shared_ptr<HttpExchange>& exchange) {
  calls_.Begin({.method = FindJsonMethod(request.path),
                .body = std::move(request.body),
                .caller = admitted.caller,
                .still_counts = [this, admitted] { return StillCounts(admitted); }},
               exchange);
}

HttpResponse Gateway::Login(const HttpRequest& request) {
  const absl::StatusOr<std::string> token = TokenIn(request.body);
  if (!token.ok()) return ErrorAnswer(token.status());
  const std::string bearer = absl::StrCat("Bearer ", *token);
  Credentials credentials;
  credentials.authorization = {bearer};
  const absl::StatusOr<Caller> caller = access_->Identify(credentials);
  if (!caller.ok()) return RefusalOf(caller.status());
  if (!MayCall(caller->role, Needs::kViewer)) {
    return ErrorAnswer(absl::PermissionDeniedError(
        absl::StrCat(caller->ToText(), " has the role ", AbslView(db::RoleName(caller->role)),
                     ", and the page is for the roles ", RolesThatMay(Needs::kViewer))));
  }
  const absl::StatusOr<std::string> number = sessions_.Begin(*caller);
  if (!number.ok()) return ErrorAnswer(number.status());
  return {.status = 204,
          .content_type = "",
          .body = "",
          .fields = {{"Set-Cookie", SessionCookie(*number, kSessionTime)}}};
}

HttpResponse Gateway::Logout(const Admitted& admitted) {
  sessions_.End(admitted.session);
  HttpResponse answer{.status = 204, .content_type = "", .body = ""};
  if (access_->asks()) {
    answer.fields.push_back({"Set-Cookie", SessionCookie("", absl::ZeroDuration())});
  }
  return answer;
}

HttpResponse Gateway::Session(const Admitted& admitted) const {
  nlohmann::ordered_json body;
  body["name"] = admitted.caller ? admitted.caller->name : "";
  // In plain text on loopback, everybody may do everything.
  body["role"] = db::RoleName(admitted.caller ? admitted.caller->role : db::Role::kOperator);
  body["secure"] = access_->asks();
  body["login"] = access_->asks();
  return {.content_type = "application/json", .body = body.dump()};
}

HttpResponse Gateway::File(const HttpRequest& request) const {
  std::optional<HttpResponse> file =
      files_.Find(request.path, request.Field("if-none-match").value_or(""));
  return file ? *std::move(file) : ErrorAnswer(NoSuchPage(request.path));
}

}  // namespace meshwright::server
