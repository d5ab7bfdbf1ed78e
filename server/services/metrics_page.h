// MetricsPage serves a server's metrics at http://HOST:PORT/metrics, to GET and HEAD. Since readers
// do not authenticate, it listens on loopback addresses only.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/http/http_server.h"
#include "server/services/metrics.h"

namespace meshwright::server {

// Returns the answer with all metrics.
HttpResponse MetricsAnswer(const Metrics& metrics);

class MetricsPage {
 public:
  // Port 0 picks a free port. Returns InvalidArgument for an address that other machines can reach,
  // and Unavailable for an address that can't be bound. REQUIRES: `metrics` outlives the page.
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
