#include "server/gateway/same_origin.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/message_text.h"
#include "base/text/string_view.h"

namespace meshwright::server {
namespace {

constexpr char kHost[] = "host";
constexpr size_t kMostNameShown = 100;

std::string Quoted(std::string_view text) {
  return EscapeControls(ShortText(std::string(text), kMostNameShown));
}

bool IsPort(std::string_view text) {
  return text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the host of HOST or HOST:PORT, an IPv6 address without its brackets; empty if the text
// has another form.
std::string_view HostOf(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view rest = text.substr(end + 1);
    const bool is_whole = rest.empty() || (rest.starts_with(':') && IsPort(rest.substr(1)));
    return is_whole ? text.substr(1, end - 1) : std::string_view();
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return text;
  return IsPort(text.substr(colon + 1)) ? text.substr(0, colon) : std::string_view();
}

}  // namespace

absl::Status CheckHost(const HttpRequest& request, absl::Span<const std::string> names) {
  if (request.CountOf(kHost) != 1) {
    return absl::PermissionDeniedError("the request must have exactly one header `Host`");
  }
  const std::string_view field = *request.Field(kHost);
  const std::string_view host = HostOf(field);
  const auto is = [&](const std::string& name) {
    return !host.empty() && absl::EqualsIgnoreCase(AbslView(host), name);
  };
  if (is(request.connection.own_address) || is("localhost") ||
      std::any_of(names.begin(), names.end(), is)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "the request's Host ", Quoted(field), " must be the address that it came to (",
      request.connection.own_address, "), localhost, or a name that serve --http-name gives"));
}

absl::Status CheckOrigin(const HttpRequest& request) {
  if (request.CountOf("origin") == 0) return absl::OkStatus();
  const std::string own = absl::StrCat(request.connection.is_secure ? "https://" : "http://",
                                       AbslView(*request.Field(kHost)));
  const std::string_view origin = *request.Field("origin");
  if (request.CountOf("origin") == 1 && absl::EqualsIgnoreCase(AbslView(origin), own)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      absl::StrCat("the request comes from the page of another site (", Quoted(origin),
                   "), and only pages of ", Quoted(own), " may call"));
}

}  // namespace meshwright::server
