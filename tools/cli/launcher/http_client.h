// HttpClient is an HttpTransport by libcurl. The library is loaded at run time, since of all
// commands only those that launch agents on Kubernetes need it.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/launcher/http_transport.h"

namespace meshwright::cli {

struct HttpServer {
  std::string url;           // http or https, a host and a port, without a slash at the end
  std::string ca_file = {};  // authorities of the server's certificate; empty: the system's
};

// Returns FailedPrecondition if this machine has no libcurl. Threads may share the transport.
absl::StatusOr<std::shared_ptr<const HttpTransport>> MakeHttpClient(HttpServer server);

}  // namespace meshwright::cli
