// HttpTransport sends requests to one HTTP server. HttpClient is the one that reaches a network.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::cli {

struct HttpRequest {
  std::string method = "GET";
  std::string path;  // with its query
  std::string content_type = {};
  std::string body = {};
  std::string bearer_token = {};
  absl::Duration limit = absl::Seconds(30);  // for the whole exchange
};

struct HttpAnswer {
  int32_t status = 0;
  std::string body = {};
};

// Gets a body piece by piece as it arrives.
using BodyReader = std::function<void(std::string_view piece)>;

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  // Returns the server's answer, whatever its status. Returns Unavailable if no whole answer
  // arrives within the request's limit, or if its body is longer than 64 MiB.
  virtual absl::StatusOr<HttpAnswer> Send(const HttpRequest& request) const = 0;
  // Does what Send() does, but gives the body of an answer with status 200 to `read`. Returns
  // Cancelled within about a second after `stopped` returns true.
  virtual absl::StatusOr<HttpAnswer> Stream(const HttpRequest& request, const BodyReader& read,
                                            const std::function<bool()>& stopped) const = 0;

 protected:
  HttpTransport() = default;
  HttpTransport(const HttpTransport&) = default;
  HttpTransport& operator=(const HttpTransport&) = default;
};

}  // namespace meshwright::cli
