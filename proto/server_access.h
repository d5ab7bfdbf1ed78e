// How a client or an agent reaches a server: its address, what it trusts, and who it says it is.
#pragma once

#include <memory>
#include <string>

#include "grpcpp/security/credentials.h"

namespace meshwright {

// Certificates and keys are texts in PEM.
struct ServerAccess {
  std::string address;      // HOST:PORT
  std::string ca;           // who vouches for the server's certificate; empty: plain text
  std::string certificate;  // own, with its key; both may be empty
  std::string key;
  std::string token;  // may be empty; sent over TLS only

  bool has_tls() const { return !ca.empty(); }
};

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const ServerAccess& access);

}  // namespace meshwright
