#include "server/http/http_transport.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

#include "boost/asio/post.hpp"
#include "boost/asio/ssl/stream.hpp"

namespace meshwright::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Returns the address as peers are told apart by it: an IPv4 address stays one over IPv6.
std::string AddressOf(const tcp::endpoint& endpoint) {
  const asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

HttpConnectionFacts FactsOf(const tcp::socket& socket) {
  error_code ignored;
  HttpConnectionFacts facts;
  facts.peer_address = AddressOf(socket.remote_endpoint(ignored));
  facts.own_address = AddressOf(socket.local_endpoint(ignored));
  return facts;
}

void CloseSocket(tcp::socket& socket) {
  error_code ignored;
  socket.close(ignored);
}

void EndSendingOn(tcp::socket& socket) {
  error_code ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

class PlainTransport final : public HttpTransport {
 public:
  explicit PlainTransport(tcp::socket socket) : socket_(std::move(socket)) {}

  void Handshake(Done done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }
  void ReadSome(asio::mutable_buffer buffer, Done done) override {
    socket_.async_read_some(buffer, std::move(done));
  }
  void WriteSome(asio::const_buffer buffer, Done done) override {
    socket_.async_write_some(buffer, std::move(done));
  }
  void EndSending() override { EndSendingOn(socket_); }
  void Close() override { CloseSocket(socket_); }
  HttpConnectionFacts Facts() override { return FactsOf(socket_); }

 private:
  tcp::socket socket_;
};

struct FreeX509 {
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

std::vector<std::string> UrisOf(X509* certificate) {
  std::vector<std::string> uris;
  const std::unique_ptr<GENERAL_NAMES, FreeX509> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                      static_cast<size_t>(ASN1_STRING_length(uri)));
  }
  return uris;
}

std::optional<PeerCertificate> CertificateOf(const SSL* tls) {
  const std::unique_ptr<X509, FreeX509> certificate(SSL_get1_peer_certificate(tls));
  // OpenSSL ends a handshake with a certificate that it can't verify.
  if (certificate == nullptr || SSL_get_verify_result(tls) != X509_V_OK) return std::nullopt;
  PeerCertificate found;
  found.uris = UrisOf(certificate.get());
  const std::unique_ptr<BIO, FreeX509> text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(text.get(), certificate.get());
  char* data = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(text.get(), &data));
  found.pem.assign(data, size);
  return found;
}

class TlsTransport final : public HttpTransport {
 public:
  TlsTransport(tcp::socket socket, asio::ssl::context& tls) : stream_(std::move(socket), tls) {}

  void Handshake(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](const error_code& error) { done(error, 0); });
  }
  void ReadSome(asio::mutable_buffer buffer, Done done) override {
    stream_.async_read_some(buffer, std::move(done));
  }
  void WriteSome(asio::const_buffer buffer, Done done) override {
    stream_.async_write_some(buffer, std::move(done));
  }
  void EndSending() override { EndSendingOn(stream_.next_layer()); }
  void Close() override { CloseSocket(stream_.next_layer()); }
  HttpConnectionFacts Facts() override {
    HttpConnectionFacts facts = FactsOf(stream_.next_layer());
    facts.is_secure = true;
    facts.certificate = CertificateOf(stream_.native_handle());
    return facts;
  }

 private:
  asio::ssl::stream<tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<HttpTransport> MakeTransport(tcp::socket socket, asio::ssl::context* tls) {
  if (tls == nullptr) return std::make_unique<PlainTransport>(std::move(socket));
  return std::make_unique<TlsTransport>(std::move(socket), *tls);
}

}  // namespace meshwright::server
