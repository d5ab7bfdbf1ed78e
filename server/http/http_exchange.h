// HttpExchange sends the answer to one request: a whole answer at once, or a stream of bytes.
//
// Callers may rely on: all functions except OnGone() may be called from any thread. They do nothing
// once the peer is gone or the server has ended. Bytes reach the peer in the order of the calls.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/http/http_message.h"

namespace meshwright::server {

class HttpExchange {
 public:
  using Callback = std::function<void()>;

  virtual ~HttpExchange() = default;

  // Answers the request. REQUIRES: called once, and no stream was begun.
  virtual void Answer(HttpResponse response) = 0;

  // Sends the head of an answer whose body follows in parts; `head.body` is the first part. `tick`
  // is called on the server's thread every `interval` until the stream ends.
  virtual void BeginStream(HttpResponse head, absl::Duration interval, Callback tick) = 0;
  // Sends a part of the body; `sent`, which may be empty, is called on the server's thread once the
  // system has taken all bytes. If the peer takes too long to accept them (HttpLimits::patience),
  // the connection is closed. REQUIRES: a stream was begun.
  virtual void Send(std::string bytes, Callback sent) = 0;
  virtual void EndStream() = 0;

  // Calls `gone` once, on the server's thread, if the peer or the server closes the connection
  // before the answer or stream has ended. A peer that stops sending (TCP's half-close) counts as
  // gone. To be called at most once, and only while HttpService::handle runs.
  virtual void OnGone(Callback gone) = 0;
};

}  // namespace meshwright::server
