// Listener is the leader's listening socket, to which the other members of a gang connect.
//
// Connections wait in the socket's backlog until the leader begins to run the trial and accepts
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::gang {

class Listener {
 public:
  // Binds to `address`, a numeric address or a name of this host, and a port that the kernel
  // chooses. Returns Unavailable if that fails.
  static absl::StatusOr<std::shared_ptr<Listener>> Open(const std::string& address);

  uint16_t port() const { return port_; }
  // Returns "host:port" for the followers. An IPv6 address is in brackets.
  std::string rendezvous() const;
  // Returns the socket. It is non-blocking, so accept() never waits.
  int socket() const { return socket_.get(); }

 private:
  Listener(std::string address, UniqueFd socket, uint16_t port);

  const std::string address_;
  const UniqueFd socket_;
  const uint16_t port_;
};

}  // namespace meshwright::gang
