#include "server/http/http_server.h"

#include <chrono>
#include <exception>
#include <list>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/beast/core/flat_buffer.hpp"
#include "boost/beast/core/tcp_stream.hpp"
#include "boost/beast/http.hpp"

namespace meshwright::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

// After accept() failed, for want of a descriptor or of memory.
constexpr std::chrono::milliseconds kAcceptPause(100);

HttpRequest RequestOf(const http::request<http::string_body>& message) {
  const std::string target(message.target());
  const size_t query = target.find('?');
  return {.method = std::string(message.method_string()),
          .path = target.substr(0, query),
          .query = query == std::string::npos ? std::string() : target.substr(query + 1),
          .body = message.body()};
}

HttpResponse AnswerOf(const HttpServer::Handler& handler, const HttpRequest& request) {
  try {
    return handler(request);
  } catch (const std::exception& error) {
    return {.status = 500, .body = absl::StrCat("internal error: ", error.what(), "\n")};
  }
}

// Returns the answer to a request that can't be read; nullopt if the peer left or took too long.
std::optional<HttpResponse> RefusalOf(const error_code& error) {
  if (error == http::error::header_limit) {
    return HttpResponse{.status = 431, .body = "the request's header is too long\n"};
  }
  if (error == http::error::body_limit) {
    return HttpResponse{.status = 413, .body = "the request's body is too long\n"};
  }
  const bool is_malformed = error.category() == make_error_code(http::error::bad_method).category();
  if (!is_malformed || error == http::error::end_of_stream ||
      error == http::error::partial_message) {
    return std::nullopt;
  }
  return HttpResponse{.status = 400, .body = "the request is not HTTP/1.1\n"};
}

}  // namespace

// Connection reads requests of one peer and answers each, on the listener's thread.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Self = std::shared_ptr<Connection>;
  // The connections, that which has waited longest for its peer first.
  using List = std::list<Self>;

  Connection(tcp::socket socket, const HttpServer::Handler& handler, const HttpLimits& limits,
             List& list)
      : stream_(std::move(socket)), handler_(handler), limits_(limits), list_(list) {}

  void Begin(List::iterator place) {
    place_ = place;
    Read();
  }

  // Ends what is going on; the connection then leaves the list.
  void Close() {
    error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void Read() {
    list_.splice(list_.end(), list_, place_);
    parser_.emplace();
    parser_->header_limit(limits_.header_bytes);
    parser_->body_limit(limits_.body_bytes);
    WaitAtMostPatience();
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](const error_code& error, size_t /*bytes*/) {
                       self->Reply(error);
                     });
  }

  void Reply(const error_code& error) {
    if (error) {
      const std::optional<HttpResponse> refusal = RefusalOf(error);
      if (!refusal) return Leave();
      return Write(*refusal, /*is_head=*/false, /*version=*/11, /*keep=*/false);
    }
    const auto& message = parser_->get();
    const bool is_head = message.method() == http::verb::head;
    Write(AnswerOf(handler_, RequestOf(message)), is_head, message.version(), message.keep_alive());
  }

  void Write(const HttpResponse& response, bool is_head, unsigned version, bool keep) {
    answer_ = {};
    answer_.version(version);
    answer_.result(static_cast<unsigned>(response.status));
    answer_.set(http::field::content_type, response.content_type);
    if (!response.allow.empty()) answer_.set(http::field::allow, response.allow);
    answer_.keep_alive(keep);
    answer_.content_length(response.body.size());
    if (!is_head) answer_.body() = response.body;
    serializer_.emplace(answer_);
    WaitAtMostPatience();
    http::async_write(stream_, *serializer_,
                      [self = shared_from_this(), keep](const error_code& error, size_t /*bytes*/) {
                        if (error) return self->Leave();
                        if (keep) return self->Read();
                        self->ReadOut();
                      });
  }

  // Reads the bytes that the peer still sends. If the connection closed earlier, the peer would
  // lose the answer.
  void ReadOut() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    ReadMore();
  }

  void ReadMore() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](const error_code& error, size_t /*bytes*/) {
                              if (error) return self->Leave();
                              self->ReadMore();
                            });
  }

  void Leave() {
    Close();
    list_.erase(place_);
  }

  void WaitAtMostPatience() {
    stream_.expires_after(std::chrono::milliseconds(absl::ToInt64Milliseconds(limits_.patience)));
  }

  beast::tcp_stream stream_;
  const HttpServer::Handler& handler_;
  const HttpLimits& limits_;
  List& list_;
  List::iterator place_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> answer_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
};

class HttpServer::Listener {
 public:
  Listener(Handler handler, const HttpLimits& limits)
      : handler_(std::move(handler)), limits_(limits) {}

  ~Listener() {
    asio::post(context_, [this] {
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      for (const Connection::Self& connection : connections_) connection->Close();
    });
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Listen(const HostPort& listen) {
    error_code error;
    tcp::resolver resolver(context_);
    const auto found =
        resolver.resolve(ResolvableHost(listen), std::to_string(listen.port),
                         tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (!error) Bind(found.begin()->endpoint(), error);
    if (error) return absl::UnavailableError(error.message());
    address_ = {.host = listen.host, .port = acceptor_.local_endpoint().port()};
    Accept();
    thread_ = std::thread([this] { context_.run(); });
    return absl::OkStatus();
  }

  const HostPort& address() const { return address_; }

 private:
  void Bind(const tcp::endpoint& endpoint, error_code& error) {
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
  }

  void Accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) return AcceptLater();
      Take(std::move(socket));
      Accept();
    });
  }

  void AcceptLater() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](const error_code& error) {
      if (!error && acceptor_.is_open()) Accept();
    });
  }

  void Take(tcp::socket socket) {
    if (connections_.size() >= limits_.max_connections) CloseOldest();
    connections_.push_back(
        std::make_shared<Connection>(std::move(socket), handler_, limits_, connections_));
    connections_.back()->Begin(std::prev(connections_.end()));
  }

  // A closed connection leaves the list once its operation has ended, on a later turn of the loop.
  // Until then it stands last, so that the next one to be closed is another.
  void CloseOldest() {
    connections_.front()->Close();
    connections_.splice(connections_.end(), connections_, connections_.begin());
  }

  const Handler handler_;
  const HttpLimits limits_;
  HostPort address_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  Connection::List connections_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HostPort& listen,
                                                              Handler handler,
                                                              const HttpLimits& limits) {
  auto listener = std::make_unique<Listener>(std::move(handler), limits);
  if (const absl::Status status = listener->Listen(listen); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(listener)));
}

HttpServer::HttpServer(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
HttpServer::~HttpServer() = default;

const HostPort& HttpServer::address() const { return listener_->address(); }

}  // namespace meshwright::server
