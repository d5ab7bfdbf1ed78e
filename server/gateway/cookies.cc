#include "server/gateway/cookies.h"

namespace meshwright::server {

std::optional<std::string_view> CookieOf(const HttpRequest& request, std::string_view name) {
  std::optional<std::string_view> value;
  for (const HttpField& field : request.fields) {
    if (field.name != "cookie") continue;
    for (std::string_view rest = field.value; !rest.empty();) {
      const size_t end = rest.find(';');
      std::string_view pair = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      while (pair.starts_with(' ')) pair.remove_prefix(1);
      while (pair.ends_with(' ')) pair.remove_suffix(1);
      const size_t sign = pair.find('=');
      if (sign == std::string_view::npos || pair.substr(0, sign) != name) continue;
      if (value) return std::nullopt;
      value = pair.substr(sign + 1);
    }
  }
  return value;
}

}  // namespace meshwright::server
