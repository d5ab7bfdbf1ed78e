// HttpServer answers HTTP/1.1 requests at one address, in plain text or over TLS.
//
// Callers may rely on: a connection holds memory for at most one header and one body (HttpLimits).
// It is closed if its peer does not send or receive in time (HttpLimits::patience). If
// `max_connections` are open, a new connection replaces the one that has waited longest for its
// peer, so that silent peers lock nobody out. If the process has no free descriptor, the server
// tries again until it gets one. No input ends the process.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "base/system/host_port.h"
#include "server/http/http_service.h"
#include "server/http/server_tls.h"

namespace meshwright::server {

class HttpServer {
 public:
  // Starts to listen; port 0 picks a free one. Returns InvalidArgument for TLS files that can't be
  // used, and Unavailable, with the system's reason, if the address can't be bound.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const HostPort& listen, HttpService service, const HttpLimits& limits = {},
      const std::optional<ServerTls>& tls = std::nullopt);
  // Closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns the address with the port that is bound.
  const HostPort& address() const;

 private:
  class Listener;
  explicit HttpServer(std::unique_ptr<Listener> listener);

  const std::unique_ptr<Listener> listener_;
};

}  // namespace meshwright::server
