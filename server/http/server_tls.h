// ServerTls holds a server's TLS files, each a text in PEM.
#pragma once

#include <string>

namespace meshwright::server {

struct ServerTls {
  std::string certificate;  // the server's certificate, followed by its issuers'
  std::string key;
  // The CA that signs clients' certificates. If it is empty, no client certificate is requested. A
  // client without a certificate can still connect, and may authenticate by a token.
  std::string client_ca;
};

}  // namespace meshwright::server
