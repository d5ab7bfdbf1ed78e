#include "proto/server_access.h"

namespace meshwright {

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const ServerAccess& access) {
  if (!access.has_tls()) return grpc::InsecureChannelCredentials();
  std::shared_ptr<grpc::ChannelCredentials> channel =
      grpc::SslCredentials({.pem_root_certs = access.ca,
                            .pem_private_key = access.key,
                            .pem_cert_chain = access.certificate});
  if (access.token.empty()) return channel;
  return grpc::CompositeChannelCredentials(channel, grpc::AccessTokenCredentials(access.token));
}

}  // namespace meshwright
