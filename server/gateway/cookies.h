// CookieOf() reads a request's cookies.
#pragma once

#include <optional>
#include <string_view>

#include "server/http/http_message.h"

namespace meshwright::server {

// Returns the value of the cookie `name`, or nullopt if the request has no cookie of that name, or
// several, since another site may have set one of them.
std::optional<std::string_view> CookieOf(const HttpRequest& request, std::string_view name);

}  // namespace meshwright::server
