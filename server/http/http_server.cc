#include "server/http/http_server.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/ssl/context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "server/http/http_connection.h"
#include "server/http/http_transport.h"

namespace meshwright::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// After accept() failed, for want of a descriptor or of memory.
constexpr std::chrono::milliseconds kAcceptPause(100);

absl::Status TlsError(std::string_view what, const error_code& error) {
  return absl::InvalidArgumentError(absl::StrCat(
      "can't use the ", absl::string_view(what.data(), what.size()), ": ", error.message()));
}

// No session is resumed: each connection shows its certificate anew.
absl::Status Prepare(const ServerTls& tls, asio::ssl::context& context) {
  error_code error;
  context.use_certificate_chain(asio::buffer(tls.certificate), error);
  if (error) return TlsError("certificate", error);
  context.use_private_key(asio::buffer(tls.key), asio::ssl::context::pem, error);
  if (error) return TlsError("private key", error);
  SSL_CTX* const native = context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  if (tls.client_ca.empty()) return absl::OkStatus();
  context.add_certificate_authority(asio::buffer(tls.client_ca), error);
  if (error) return TlsError("clients' CA", error);
  context.set_verify_mode(asio::ssl::verify_peer, error);
  return error ? TlsError("clients' CA", error) : absl::OkStatus();
}

}  // namespace

HttpService AnsweringAtOnce(std::function<HttpResponse(const HttpRequest& request)> answer) {
  return {.admit = {},
          .handle =
              [answer = std::move(answer)](const HttpRequest& request,
                                           const std::shared_ptr<HttpExchange>& exchange) {
                exchange->Answer(answer(request));
              },
          .fields = {}};
}

class HttpServer::Listener {
 public:
  Listener(HttpService service, const HttpLimits& limits) : loop_(std::make_shared<HttpLoop>()) {
    loop_->service = std::move(service);
    loop_->limits = limits;
  }

  ~Listener() {
    asio::post(loop_->context, [this] {
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      CloseAll(loop_->waiting);
      CloseAll(loop_->working);
    });
    if (thread_.joinable()) thread_.join();
    // Exchanges may outlive the server, and what the service refers to may not.
    loop_->service = {};
  }

  absl::Status Listen(const HostPort& listen, const std::optional<ServerTls>& tls) {
    if (tls) {
      tls_.emplace(asio::ssl::context::tls_server);
      if (const absl::Status status = Prepare(*tls, *tls_); !status.ok()) return status;
    }
    error_code error;
    tcp::resolver resolver(loop_->context);
    const auto found =
        resolver.resolve(ResolvableHost(listen), std::to_string(listen.port),
                         tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (!error) Bind(found.begin()->endpoint(), error);
    if (error) return absl::UnavailableError(error.message());
    address_ = {.host = listen.host, .port = acceptor_.local_endpoint().port()};
    Accept();
    thread_ = std::thread([this] { loop_->context.run(); });
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
    if (loop_->waiting.size() + loop_->working.size() >= loop_->limits.max_connections) {
      if (loop_->waiting.empty()) return;  // closes the new one
      HttpConnection::Self(loop_->waiting.front())->Leave();
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    loop_->waiting.push_back(std::make_shared<HttpConnection>(
        loop_.get(), MakeTransport(std::move(socket), tls_ ? &*tls_ : nullptr)));
    loop_->waiting.back()->Begin(std::prev(loop_->waiting.end()));
  }

  static void CloseAll(HttpLoop::List& connections) {
    while (!connections.empty()) HttpConnection::Self(connections.front())->Leave();
  }

  const std::shared_ptr<HttpLoop> loop_;
  HostPort address_;
  std::optional<asio::ssl::context> tls_;
  tcp::acceptor acceptor_{loop_->context};
  asio::steady_timer pause_{loop_->context};
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HostPort& listen,
                                                              HttpService service,
                                                              const HttpLimits& limits,
                                                              const std::optional<ServerTls>& tls) {
  auto listener = std::make_unique<Listener>(std::move(service), limits);
  if (const absl::Status status = listener->Listen(listen, tls); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(listener)));
}

HttpServer::HttpServer(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
HttpServer::~HttpServer() = default;

const HostPort& HttpServer::address() const { return listener_->address(); }

}  // namespace meshwright::server
