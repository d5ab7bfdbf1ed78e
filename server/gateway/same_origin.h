// Tells requests of this server's own page, and of scripts, from those that the pages of other
// sites make a browser send.
//
// A page of another site can reach a server in two ways. It sends a request across origins; a
// browser then says so in `Origin`. Or it points its own name at the server's address (DNS
// rebinding); the name is then in `Host`.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/http/http_message.h"

namespace meshwright::server {

// Returns OK if the request has one `Host`, which names the address that the request came to,
// localhost, or one of `names`; a port is not compared, since tunnels change it. Otherwise returns
// PermissionDenied.
absl::Status CheckHost(const HttpRequest& request, absl::Span<const std::string> names);

// Returns OK if the request has no `Origin`, or the one of the host that it names. Otherwise
// returns PermissionDenied. REQUIRES: CheckHost() accepted the request.
absl::Status CheckOrigin(const HttpRequest& request);

}  // namespace meshwright::server
