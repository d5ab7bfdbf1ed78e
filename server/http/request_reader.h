// RequestReader reads one HTTP/1.1 request from the bytes of a connection.
//
// Callers may rely on: the reader holds memory for at most one header and the body that was
// allowed. Bytes after the request are left to the next reader. Bodies without a Content-Length are
// refused, so that the length is known before a byte of them is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "server/http/http_message.h"

namespace meshwright::server {

class RequestReader {
 public:
  enum class Progress : uint8_t {
    kNeedsMore,
    kHead,     // the header is complete; AllowBody() has to follow
    kWhole,    // the request is complete
    kRefused,  // the request is malformed or not supported; refusal() says why
  };

  explicit RequestReader(uint32_t most_header_bytes);
  ~RequestReader();

  // Reads from the front of `bytes`, and adds to `used` the number of bytes that it has consumed.
  Progress Take(std::string_view bytes, size_t& used);

  // Valid once Take() has returned kHead. The body is complete once Take() has returned kWhole.
  HttpRequest& request() { return request_; }
  uint64_t body_bytes() const { return body_bytes_; }  // by its Content-Length
  bool keeps_alive() const { return keeps_alive_; }
  bool is_http_1_0() const { return is_http_1_0_; }
  bool awaits_continue() const;  // whether the peer waits for 100 Continue

  void AllowBody() { may_read_body_ = true; }

  const HttpResponse& refusal() const { return refusal_; }

 private:
  struct Parser;

  Progress TakeHead(std::string_view bytes, size_t& used);
  Progress Refuse(int status, std::string_view why);

  const std::unique_ptr<Parser> parser_;
  const size_t most_header_bytes_;
  size_t head_bytes_ = 0;
  HttpRequest request_;
  HttpResponse refusal_;
  uint64_t body_bytes_ = 0;
  bool has_head_ = false;
  bool may_read_body_ = false;
  bool keeps_alive_ = false;
  bool is_http_1_0_ = false;
};

}  // namespace meshwright::server
