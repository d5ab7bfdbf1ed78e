// HttpTransport moves a connection's bytes, in plain text or over TLS. Only server/http includes
// this header, since it needs Boost.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "boost/asio/buffer.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl/context.hpp"
#include "boost/system/error_code.hpp"
#include "server/http/http_message.h"

namespace meshwright::server {

class HttpTransport {
 public:
  using Done = std::function<void(const boost::system::error_code& error, size_t bytes)>;

  virtual ~HttpTransport() = default;

  // Performs the TLS handshake; without TLS, does nothing. To be called once, before the other
  // functions.
  virtual void Handshake(Done done) = 0;
  // At most one read and one write may be pending. REQUIRES: the buffer and this object live until
  // `done` is called.
  virtual void ReadSome(boost::asio::mutable_buffer buffer, Done done) = 0;
  virtual void WriteSome(boost::asio::const_buffer buffer, Done done) = 0;
  // Tells the peer that nothing more will be sent.
  virtual void EndSending() = 0;
  // Closes the connection and ends pending reads and writes.
  virtual void Close() = 0;
  // REQUIRES: the handshake has succeeded.
  virtual HttpConnectionFacts Facts() = 0;
};

// `tls` is null for plain text, and otherwise has to outlive the transport.
std::unique_ptr<HttpTransport> MakeTransport(boost::asio::ip::tcp::socket socket,
                                             boost::asio::ssl::context* tls);

}  // namespace meshwright::server
