// The leader's gate: the listening socket that the other members of a gang come to.
//
// Connections wait in it until the leader's run takes them; without one nobody answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::gang {

class Listener {
 public:
  // Binds to `address`, numeric or a name of this host, on a port that the kernel chooses.
  // Unavailable where that can't be done.
  static absl::StatusOr<std::shared_ptr<Listener>> Open(const std::string& address);

  uint16_t port() const { return port_; }
  // Where the others find it: "host:port", an IPv6 address in brackets.
  std::string rendezvous() const;
  // Never waits in accept().
  int socket() const { return socket_.get(); }

 private:
  Listener(std::string address, UniqueFd socket, uint16_t port);

  const std::string address_;
  const UniqueFd socket_;
  const uint16_t port_;
};

}  // namespace meshwright::gang
