// HttpServer answers HTTP/1.1 requests at one address.
//
// Callers may rely on: a connection holds memory for at most one header and one body (HttpLimits),
// and waits for its peer for at most HttpLimits::patience. If `max_connections` are open, a new
// connection replaces the one that has waited longest, so that silent peers lock nobody out. If the
// process has no free descriptor, the server tries again until it gets one. No input ends the
// process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/system/host_port.h"

namespace meshwright::server {

struct HttpRequest {
  std::string method;  // as the peer wrote it: "GET"
  std::string path;    // of the target, without the query
  std::string query;   // behind the target's first "?"
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow = {};  // with status 405: the methods that the path has
};

struct HttpLimits {
  size_t max_connections = 64;
  uint32_t header_bytes = 8 * 1024;  // request line included
  uint64_t body_bytes = 64 * 1024;
  // The longest time for which a connection waits for the rest of a request, for the next request,
  // or for its peer to take an answer.
  absl::Duration patience = absl::Seconds(10);
};

class HttpServer {
 public:
  // Called on the server's one thread, for one request at a time. A HEAD request gets the answer
  // without its body. An exception is answered with status 500.
  using Handler = std::function<HttpResponse(const HttpRequest& request)>;

  // Starts to listen; port 0 picks a free one. Returns Unavailable, with the system's reason, if
  // the address can't be bound.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HostPort& listen, Handler handler,
                                                           const HttpLimits& limits = {});
  // Closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns the address with the port that is bound.
  const HostPort& address() const;

 private:
  class Connection;
  class Listener;
  explicit HttpServer(std::unique_ptr<Listener> listener);

  const std::unique_ptr<Listener> listener_;
};

}  // namespace meshwright::server
