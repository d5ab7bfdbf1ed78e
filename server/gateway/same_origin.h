// These functions accept requests of this server's own page and of scripts, and refuse requests
// that other sites' pages make a browser send.
//
// A page of another site can reach a server in two ways. (1) It sends a cross-origin request; the
// browser then names the page's origin in `Origin`. (2) It points its own host name at the server's
// address (DNS rebinding); that name is then in `Host`.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/http/http_message.h"

namespace meshwright::server {

// Returns OK if the request has exactly one `Host`, and its host is the address that the request
// came to, localhost, or one of `names`. Ports are not compared, since tunnels change them.
// Otherwise returns PermissionDenied.
absl::Status CheckHost(const HttpRequest& request, absl::Span<const std::string> names);

// Returns OK if the request has no `Origin`, or if its `Origin` is this server's origin with the
// host and port in `Host`. Otherwise returns PermissionDenied. REQUIRES: CheckHost() accepted the
// request.
absl::Status CheckOrigin(const HttpRequest& request);

}  // namespace meshwright::server
