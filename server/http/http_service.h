// HttpService has the functions by which an HttpServer handles requests, and HttpLimits bounds what
// the server accepts.
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
  // Bytes of the bodies of all requests that are being read or handled.
  uint64_t total_body_bytes = 64 << 20;
  // Bytes of all answers that peers have not accepted yet. If an answer brings them above this
  // limit, the server closes other connections, those with the most such bytes first. It closes
  // that answer's own connection only if no other has any.
  uint64_t total_unsent_bytes = 128 << 20;
  // The longest time for which a connection waits for a request's header, for the next request, or
  // for its peer to take the next 64 KiB of an answer. A body has to arrive within this time plus
  // one second for every 64 KiB of it.
  absl::Duration patience = absl::Seconds(10);
};

// The most bytes of the body to read, or an answer that refuses the request. After a refusal, the
// connection is closed if the request has a body.
using HttpAdmission = std::variant<uint64_t, HttpResponse>;

// The functions that handle a server's requests. They are called on the server's one thread. A HEAD
// request gets the answer without its body. An exception is answered with status 500.
struct HttpService {
  // Called with a request whose body is not read yet; may set HttpRequest::note. If this function
  // is empty, requests are admitted with HttpLimits::body_bytes.
  std::function<HttpAdmission(HttpRequest& head)> admit;
  // Called with the whole request.
  std::function<void(HttpRequest request, const std::shared_ptr<HttpExchange>& exchange)> handle;
  // Header fields that the server adds to every answer without a field of the same name.
  std::vector<HttpField> fields;
};

// Returns a service that answers each request at once.
HttpService AnsweringAtOnce(std::function<HttpResponse(const HttpRequest& request)> answer);

}  // namespace meshwright::server
