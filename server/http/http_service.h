// HttpService says what an HttpServer does with requests, and HttpLimits what it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "server/http/http_exchange.h"
#include "server/http/http_message.h"

namespace meshwright::server {

struct HttpLimits {
  size_t max_connections = 64;
  uint32_t header_bytes = 8 * 1024;  // request line included
  // The longest body that a request may have, unless HttpService::admit says less.
  uint64_t body_bytes = 64 * 1024;
  // The bodies of all requests that are being read or handled.
  uint64_t total_body_bytes = 64 << 20;
  // What peers have not taken yet of all answers. Beyond it, the connection with the most of it is
  // closed.
  uint64_t total_unsent_bytes = 128 << 20;
  // The longest time for which a connection waits for a request's header, for the next request, or
  // for its peer to take the next 64 KiB of an answer. The rest of a body has this time and a
  // second more for every 64 KiB.
  absl::Duration patience = absl::Seconds(10);
};

// The most bytes of body to read, or the answer, behind which the connection is closed.
using HttpAdmission = std::variant<uint64_t, HttpResponse>;

// What a server does with requests. The functions are called on the server's one thread. A HEAD
// request gets the answer without its body. An exception is answered with status 500.
struct HttpService {
  // Called with a request whose body was not read yet, and may leave a note in it. Empty:
  // HttpLimits::body_bytes.
  std::function<HttpAdmission(HttpRequest& head)> admit;
  // Called with the whole request.
  std::function<void(HttpRequest request, const std::shared_ptr<HttpExchange>& exchange)> handle;
  // Fields of every answer that does not have one of the same name.
  std::vector<HttpField> fields;
};

// Returns a service that answers each request at once.
HttpService AnsweringAtOnce(std::function<HttpResponse(const HttpRequest& request)> answer);

}  // namespace meshwright::server
