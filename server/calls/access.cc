#include "server/calls/access.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/system/random_bytes.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "grpc/grpc_security_constants.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/calls/certificate_dates.h"
#include "server/calls/method_roles.h"

namespace meshwright::server {
namespace {

constexpr char kAuthorization[] = "authorization";
constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kScheme = "meshwright://";
constexpr size_t kMostShown = 100;
constexpr size_t kIntroductionBytes = 32;

std::string_view ViewOf(const grpc::string_ref& text) { return {text.data(), text.size()}; }

// Returns what a caller sent, shortened and escaped for use in a message.
std::string Shown(std::string_view text) {
  return EscapeControls(ShortText(std::string(text), kMostShown));
}

absl::Status SaysNothing() {
  return absl::UnauthenticatedError(
      "the call has neither a token nor a certificate, and this server needs one of them: give a "
      "token with --token-file (`meshwright token create` on the server's machine makes one), or a "
      "certificate with --tls-cert and --tls-key");
}

absl::Status NotOpenYet() {
  return absl::UnavailableError(
      "the server is opening its database and answers once that is done: try again");
}

// gRPC sets properties of a certificate only after the client CA has verified it.
Credentials CredentialsOf(const Access::Metadata& metadata, const grpc::AuthContext& connection) {
  Credentials credentials;
  const auto [first, last] = metadata.equal_range(kAuthorization);
  for (auto it = first; it != last; ++it) credentials.authorization.push_back(ViewOf(it->second));
  for (const grpc::string_ref& uri : connection.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    credentials.certificate_uris.push_back(ViewOf(uri));
  }
  credentials.has_certificate =
      !connection.FindPropertyValues(GRPC_X509_SUBJECT_PROPERTY_NAME).empty();
  for (const grpc::string_ref& pem :
       connection.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME)) {
    credentials.certificate_pem = ViewOf(pem);
  }
  return credentials;
}

absl::Status NamesNoCaller(std::string_view uri, absl::string_view why) {
  return absl::UnauthenticatedError(
      absl::StrCat("the certificate's URI ", Shown(uri), " names no caller: ", why,
                   "; it must be meshwright://ROLE/NAME with the role viewer, operator or agent"));
}

}  // namespace

std::string Caller::ToText() const {
  return absl::StrCat(by == By::kToken ? "token " : "certificate ", name);
}

absl::StatusOr<std::optional<Caller>> CallerOfUri(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  const std::string_view rest = uri.substr(kScheme.size());
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return NamesNoCaller(uri, "it has no name");
  const absl::StatusOr<db::Role> role = KindOf(db::kRoleNames, "role", rest.substr(0, slash));
  if (!role.ok()) return NamesNoCaller(uri, "there is no such role");
  Caller caller{.by = Caller::By::kCertificate,
                .role = *role,
                .name = std::string(rest.substr(slash + 1)),
                .agent = {},
                .token_hash = {}};
  if (const absl::Status status = CheckAgentName(caller.name); !status.ok()) {
    return NamesNoCaller(uri, status.message());
  }
  if (caller.role == db::Role::kAgent) caller.agent = caller.name;
  return caller;
}

Access::Access(bool asks, std::function<absl::Time()> clock, LogFunction log)
    : asks_(asks), clock_(std::move(clock)), log_(std::move(log)) {}

absl::StatusOr<db::TokenRecord> Access::FindToken(std::string_view hash) const {
  db::TokenStore* const tokens = tokens_.load();
  if (tokens == nullptr) return NotOpenYet();
  ASSIGN_OR_RETURN(std::optional<db::TokenRecord> token, tokens->Find(hash));
  if (!token) {
    return absl::UnauthenticatedError(
        "the server's database has no such token: use one that `meshwright token create` made "
        "for this database");
  }
  RETURN_IF_ERROR(db::CheckCounts(*token, clock_()));
  return *std::move(token);
}

absl::StatusOr<Caller> Access::ByToken(std::string_view authorization) const {
  if (!authorization.starts_with(kBearer)) {
    return absl::UnauthenticatedError(
        "the call's `authorization` must be \"Bearer \" followed by a token that `meshwright token "
        "create` made");
  }
  std::string hash = db::HashOf(authorization.substr(kBearer.size()));
  ASSIGN_OR_RETURN(db::TokenRecord token, FindToken(hash));
  return Caller{.by = Caller::By::kToken,
                .role = token.role,
                .name = std::move(token.name),
                .agent = std::move(token.agent),
                .token_hash = std::move(hash)};
}

absl::StatusOr<Caller> Access::Identify(const Credentials& credentials) const {
  if (credentials.authorization.empty()) return ByCertificate(credentials);
  if (credentials.authorization.size() > 1) {
    return absl::UnauthenticatedError("the call has more than one `authorization`: send one");
  }
  return ByToken(credentials.authorization.front());
}

absl::Status Access::CheckEnd(const Caller& caller) const {
  if (clock_() < caller.end) return absl::OkStatus();
  return absl::UnauthenticatedError(
      absl::StrCat(caller.ToText(), " expired on ",
                   absl::FormatTime("%Y-%m-%d %H:%M UTC", caller.end, absl::UTCTimeZone()),
                   ": connect with another one"));
}

absl::StatusOr<Caller> Access::ByCertificate(const Credentials& credentials) const {
  std::optional<Caller> caller;
  for (const std::string_view uri : credentials.certificate_uris) {
    ASSIGN_OR_RETURN(std::optional<Caller> named, CallerOfUri(uri));
    if (!named) continue;
    if (caller) {
      return absl::UnauthenticatedError(
          absl::StrCat("the certificate's URI ", Shown(uri),
                       " names a second caller: a certificate must have one URI "
                       "meshwright://ROLE/NAME"));
    }
    caller = std::move(named);
  }
  if (caller) {
    // The dates were looked at when the connection was opened.
    if (const auto dates = DatesOfCertificate(credentials.certificate_pem)) {
      caller->end = dates->end;
    }
    RETURN_IF_ERROR(CheckEnd(*caller));
    return *std::move(caller);
  }
  if (!credentials.has_certificate) return SaysNothing();
  return absl::UnauthenticatedError(
      "the certificate names no caller: its subject alternative names must have a URI "
      "meshwright://ROLE/NAME with the role viewer, operator or agent");
}

absl::StatusOr<std::optional<Caller>> Access::CallerOf(
    const grpc::CallbackServerContext& context) const {
  if (!asks_) return std::nullopt;
  const Metadata& metadata = context.client_metadata();
  if (const auto secret = metadata.find(kIntroduction); secret != metadata.end()) {
    const absl::MutexLock lock(&mutex_);
    const auto found = introduced_.find(std::string(ViewOf(secret->second)));
    if (found != introduced_.end()) return found->second;
  }
  ASSIGN_OR_RETURN(Caller caller, Identify(CredentialsOf(metadata, *context.auth_context())));
  return caller;
}

absl::StatusOr<std::unique_ptr<Access::Introduction>> Access::Introduce(
    const Caller& caller) const {
  ASSIGN_OR_RETURN(std::string secret, RandomHex(kIntroductionBytes));
  const absl::MutexLock lock(&mutex_);
  introduced_.emplace(secret, caller);
  return absl::WrapUnique(new Introduction(this, std::move(secret)));
}

Access::Introduction::~Introduction() {
  const absl::MutexLock lock(&access_->mutex_);
  access_->introduced_.erase(secret_);
}

absl::Status Access::StillCounts(const Caller& caller) const {
  if (caller.by == Caller::By::kCertificate) return CheckEnd(caller);
  return FindToken(caller.token_hash).status();
}

absl::Status Access::CheckRole(std::string_view method, const Caller& caller) const {
  const MethodRole* const known = RoleOfMethod(method);
  if (known == nullptr) {
    return absl::UnimplementedError(absl::StrCat("this server has no method ", Shown(method)));
  }
  if (MayCall(caller.role, known->needs)) return absl::OkStatus();
  absl::Status denied = absl::PermissionDeniedError(
      absl::StrCat(caller.ToText(), " has the role ", AbslView(db::RoleName(caller.role)), ", and ",
                   AbslView(method.substr(1)), " needs ", RolesThatMay(known->needs),
                   ": call it with a token or a certificate of such a role"));
  if (log_) {
    log_({.level = LogLevel::kWarning,
          .message = absl::StrCat("refused a call: ", denied.message()),
          .about = {.method = std::string(method.substr(1)),
                    .caller = caller.ToText(),
                    .code = absl::StatusCodeToString(denied.code())}});
  }
  return denied;
}

absl::StatusOr<std::optional<Caller>> Access::Check(std::string_view method,
                                                    const Metadata& metadata,
                                                    const grpc::AuthContext& connection) const {
  const MethodRole* const known = RoleOfMethod(method);
  if (known != nullptr && known->needs == Needs::kNothing) return std::nullopt;
  ASSIGN_OR_RETURN(Caller caller, Identify(CredentialsOf(metadata, connection)));
  RETURN_IF_ERROR(CheckRole(method, caller));
  return caller;
}

}  // namespace meshwright::server
