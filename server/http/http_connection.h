// HttpConnection reads the requests of one peer, one after the other, and sends their answers, on
// the server's one thread. It keeps reading while a request is handled, so that it notices when the
// peer closes the connection. Only server/http includes this header, since it needs Boost.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/system/error_code.hpp"
#include "server/http/http_service.h"
#include "server/http/http_transport.h"
#include "server/http/request_reader.h"

namespace meshwright::server {

class HttpConnection;

// What the connections of a server share.
struct HttpLoop : std::enable_shared_from_this<HttpLoop> {
  using List = std::list<std::shared_ptr<HttpConnection>>;

  boost::asio::io_context context{1};
  HttpService service;
  HttpLimits limits;
  List waiting;  // for their peers; the longest wait comes first
  List working;  // those whose request is being handled
  uint64_t body_bytes = 0;
  uint64_t unsent_bytes = 0;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Self = std::shared_ptr<HttpConnection>;

  // REQUIRES: `loop` outlives the connection.
  HttpConnection(HttpLoop* loop, std::unique_ptr<HttpTransport> transport);

  // `place` is the connection's place in HttpLoop::waiting.
  void Begin(HttpLoop::List::iterator place);
  // Closes the connection and removes it from its list.
  void Leave();

  // The functions of HttpExchange, for request `number`. They do nothing if the connection no
  // longer handles that request.
  void Answer(uint64_t number, HttpResponse response);
  void BeginStream(uint64_t number, HttpResponse head, std::chrono::nanoseconds interval,
                   HttpExchange::Callback tick);
  void Send(uint64_t number, std::string bytes, HttpExchange::Callback sent);
  void EndStream(uint64_t number);
  void OnGone(HttpExchange::Callback gone) { gone_ = std::move(gone); }

 private:
  enum class State : uint8_t { kHandshake, kReading, kHandling, kClosing };
  struct Outgoing {
    std::string bytes;
    HttpExchange::Callback sent;
  };

  void AwaitRequest();
  void Parse();
  // Returns true if the request's body may be read. Otherwise refuses the request and returns
  // false.
  bool Admit();
  void Refuse(const HttpResponse& response, bool keep);
  void Handle();
  void ReadMore();
  void OnRead(const boost::system::error_code& error, size_t bytes);
  void Write(std::string bytes, HttpExchange::Callback sent);
  // While HttpLimits::total_unsent_bytes is exceeded, closes the other connection with the most
  // unsent bytes, or this connection if no other has any.
  void LimitUnsent();
  void WriteFront();
  void OnWritten(const boost::system::error_code& error, size_t bytes);
  // Called when the whole answer is sent: waits for the next request, or begins to close the
  // connection.
  void EndRequest();
  void ReleaseBody();
  void Tick();
  bool IsOf(uint64_t number) const { return !has_left_ && number == number_ && !is_finished_; }

  // Closes the connection once the time is over, unless the timer is set again.
  void Arm(boost::asio::steady_timer& timer, std::chrono::nanoseconds time);
  static void Disarm(boost::asio::steady_timer& timer);

  HttpLoop* const loop_;
  const std::unique_ptr<HttpTransport> transport_;
  HttpLoop::List::iterator place_;
  HttpConnectionFacts facts_;
  State state_ = State::kHandshake;
  bool has_left_ = false;

  std::vector<char> chunk_;
  std::string buffer_;  // what was read and is not part of a request yet
  bool is_reading_ = false;
  std::optional<RequestReader> reader_;
  boost::asio::steady_timer read_deadline_;
  uint64_t held_body_bytes_ = 0;

  uint64_t number_ = 0;  // of the current request
  bool is_head_ = false;
  bool is_http_1_0_ = false;
  bool keeps_alive_ = false;
  bool is_finished_ = false;  // nothing more is added to the answer
  HttpExchange::Callback gone_;
  HttpExchange::Callback tick_;
  std::chrono::nanoseconds tick_interval_{};
  boost::asio::steady_timer tick_timer_;

  std::deque<Outgoing> outgoing_;
  size_t sent_bytes_ = 0;      // of the first in outgoing_
  uint64_t unsent_bytes_ = 0;  // of all in outgoing_
  bool is_writing_ = false;
  boost::asio::steady_timer write_deadline_;
};

}  // namespace meshwright::server
