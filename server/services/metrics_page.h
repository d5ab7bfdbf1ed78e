// MetricsPage serves a server's metrics at http://HOST:PORT/metrics, to GET and HEAD. It asks
// nobody who they are, so it listens on addresses of this machine alone.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/http/http_server.h"
#include "server/services/metrics.h"

namespace meshwright::server {

class MetricsPage {
 public:
  // `metrics` outlives the page. Port 0 picks a free one. Returns InvalidArgument for an address
  // that other machines reach, and Unavailable if it can't be bound.
  static absl::StatusOr<std::unique_ptr<MetricsPage>> Open(const std::string& listen,
                                                           const Metrics& metrics,
                                                           const HttpLimits& limits = {});

  // Returns HOST:PORT with the port that is bound.
  std::string address() const { return ToText(server_->address()); }

 private:
  explicit MetricsPage(std::unique_ptr<HttpServer> server) : server_(std::move(server)) {}

  const std::unique_ptr<HttpServer> server_;
};

}  // namespace meshwright::server
