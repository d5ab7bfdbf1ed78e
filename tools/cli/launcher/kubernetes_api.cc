#include "tools/cli/launcher/kubernetes_api.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/cli/launcher/kubernetes_json.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;

// A pod's object has 5 to 20 KiB.
constexpr size_t kMostEventBytes = size_t{4} << 20;
constexpr size_t kMostShownBytes = 300;

absl::StatusCode CodeOf(int32_t status) {
  switch (status) {
    case 400:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    default:
      return status == 429 || status >= 500 ? absl::StatusCode::kUnavailable
                                            : absl::StatusCode::kUnknown;
  }
}

// Returns the error that an answer's body, a Status object, tells.
absl::Status ErrorOf(int32_t status, const json& body, std::string_view raw,
                     std::string_view what) {
  std::string said = TextAt(body, "message");
  if (said.empty()) said = std::string(raw.substr(0, kMostShownBytes));
  return absl::Status(CodeOf(status),
                      absl::StrCat("the API server answers ", AbslView(what), " with ", status,
                                   said.empty() ? "" : ": ", said));
}

// The same for an answer whose body may be no JSON.
absl::Status ErrorOf(const HttpAnswer& answer, std::string_view what) {
  const absl::StatusOr<json> body = ParseJson("answer", answer.body);
  return ErrorOf(answer.status, body.ok() ? *body : json(), answer.body, what);
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const unsigned char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      escaped.push_back(static_cast<char>(c));
    } else {
      absl::StrAppend(&escaped, "%", absl::Hex(c, absl::kZeroPad2));
    }
  }
  return escaped;
}

// Splits a watch's body into lines and reads the event of each.
class EventLines {
 public:
  explicit EventLines(const std::function<void(const WatchEvent&)>& on_event)
      : on_event_(on_event) {}

  void Take(std::string_view piece) {
    if (!error_.ok()) return;
    line_.append(piece);
    size_t begin = 0;
    for (size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n', begin)) {
      TakeLine(std::string_view(line_).substr(begin, end - begin));
      begin = end + 1;
    }
    line_.erase(0, begin);
    if (line_.size() > kMostEventBytes) {
      error_ = absl::UnavailableError(
          absl::StrCat("an event of the API server is longer than ", kMostEventBytes, " bytes"));
    }
  }

  // An event that says why the watch has ended.
  const absl::Status& error() const { return error_; }

 private:
  void TakeLine(std::string_view line) {
    if (line.empty() || !error_.ok()) return;
    const absl::StatusOr<json> event = ParseJson("event", line, kMostEventBytes);
    if (!event.ok() || !event->is_object() || !event->contains("object")) {
      error_ = absl::UnavailableError("the API server sent an event that is not JSON");
      return;
    }
    const std::string type = TextAt(*event, "type");
    const json& object = At(*event, "object");
    if (type == "ERROR") {
      const json& code = At(object, "code");
      error_ = ErrorOf(code.is_number_integer() ? code.get<int32_t>() : 500, object, "", "a watch");
    } else if (type == "DELETED") {
      on_event_({WatchEvent::Kind::kDeleted, object});
    } else if (type == "BOOKMARK") {
      on_event_({WatchEvent::Kind::kBookmark, object});
    } else if (type == "ADDED" || type == "MODIFIED") {
      on_event_({WatchEvent::Kind::kPut, object});
    }
  }

  const std::function<void(const WatchEvent&)>& on_event_;
  std::string line_;
  absl::Status error_;
};

}  // namespace

KubernetesApi::KubernetesApi(std::shared_ptr<const HttpTransport> http, std::string name_space,
                             std::function<absl::StatusOr<std::string>()> token)
    : http_(std::move(http)), name_space_(std::move(name_space)), token_(std::move(token)) {}

std::string KubernetesApi::PathOf(KubernetesKind kind, std::string_view name) const {
  return absl::StrCat(kind.group, "/namespaces/", Escaped(name_space_), "/", kind.plural,
                      name.empty() ? "" : "/", Escaped(name));
}

absl::StatusOr<json> KubernetesApi::Call(HttpRequest request, std::string_view what) const {
  ASSIGN_OR_RETURN(request.bearer_token, token_());
  ASSIGN_OR_RETURN(const HttpAnswer answer, http_->Send(request));
  if (answer.status < 200 || answer.status > 299) return ErrorOf(answer, what);
  absl::StatusOr<json> body = ParseJson("answer", answer.body);
  if (!body.ok() || !body->is_object()) {
    return absl::UnavailableError(
        absl::StrCat("the API server's answer to ", AbslView(what), " is not JSON"));
  }
  return *std::move(body);
}

absl::StatusOr<json> KubernetesApi::Apply(KubernetesKind kind, const json& object,
                                          const ApplyOptions& options) const {
  const std::string name = TextAt(object, "metadata", "name");
  return Call({.method = "PATCH",
               .path = absl::StrCat(PathOf(kind, name), "?fieldManager=", Escaped(options.manager),
                                    options.dry_run ? "&dryRun=All" : ""),
               // JSON is YAML, and this type alone means server-side apply.
               .content_type = "application/apply-patch+yaml",
               .body = object.dump(-1, ' ', false, json::error_handler_t::replace)},
              absl::StrCat("the apply of ", kind.plural, "/", name));
}

absl::Status KubernetesApi::Delete(KubernetesKind kind, std::string_view name) const {
  const absl::Status status =
      Call({.method = "DELETE",
            .path = absl::StrCat(PathOf(kind, name), "?propagationPolicy=Foreground")},
           absl::StrCat("the deletion of ", kind.plural, "/", AbslView(name)))
          .status();
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::StatusOr<ListedObjects> KubernetesApi::List(KubernetesKind kind,
                                                  std::string_view selector) const {
  ASSIGN_OR_RETURN(json list,
                   Call({.path = absl::StrCat(PathOf(kind), "?labelSelector=", Escaped(selector))},
                        absl::StrCat("the list of ", kind.plural)));
  ListedObjects listed;
  listed.version = TextAt(list, "metadata", "resourceVersion");
  json& items = list["items"];
  if (listed.version.empty() || !(items.is_array() || items.is_null())) {
    return absl::UnavailableError(
        absl::StrCat("the API server's answer is not a list of ", kind.plural));
  }
  for (json& item : items) listed.objects.push_back(std::move(item));
  return listed;
}

absl::Status KubernetesApi::Watch(KubernetesKind kind, std::string_view selector,
                                  std::string_view version,
                                  const std::function<void(const WatchEvent&)>& on_event,
                                  const std::function<bool()>& stopped) const {
  HttpRequest request = {
      .path = absl::StrCat(PathOf(kind), "?watch=true&allowWatchBookmarks=true&labelSelector=",
                           Escaped(selector), "&resourceVersion=", Escaped(version),
                           "&timeoutSeconds=", absl::ToInt64Seconds(kWatchTime)),
      .limit = kWatchTime + absl::Seconds(15)};
  ASSIGN_OR_RETURN(request.bearer_token, token_());
  EventLines lines(on_event);
  const absl::StatusOr<HttpAnswer> answer = http_->Stream(
      request, [&lines](std::string_view piece) { lines.Take(piece); },
      [&] { return !lines.error().ok() || stopped(); });
  RETURN_IF_ERROR(lines.error());
  RETURN_IF_ERROR(answer.status());
  if (answer->status == 200) return absl::OkStatus();
  return ErrorOf(*answer, absl::StrCat("the watch of ", kind.plural));
}

}  // namespace meshwright::cli
