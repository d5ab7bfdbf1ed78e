// ServerAccess says how a client or an agent reaches a server: the server's address, the CA that
// the client trusts, and the client's own credentials.
#pragma once

#include <memory>
#include <string>

#include "grpcpp/security/credentials.h"

namespace meshwright {

// Certificates and keys are texts in PEM.
struct ServerAccess {
  std::string address;      // HOST:PORT
  std::string ca;           // CA of the server's certificate; if empty, plain text is used
  std::string certificate;  // the client's certificate, with `key`; both may be empty
  std::string key;
  std::string token;  // may be empty; sent over TLS only

  bool has_tls() const { return !ca.empty(); }
};

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const ServerAccess& access);

}  // namespace meshwright
