// Greeting is one end of a TCP connection while the handshake (executor/gang/handshake.h) runs. No
// function blocks.
#pragma once

#include <poll.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/system/monotonic_time.h"
#include "base/system/unique_fd.h"
#include "executor/gang/handshake.h"
#include "executor/gang/socket_address.h"

namespace meshwright::gang {

class Greeting {
 public:
  // Begins the handshake of a connection that the listener accepted.
  static absl::StatusOr<Greeting> OfListener(UniqueFd socket, const std::string& secret,
                                             MonotonicTime deadline);
  // Begins a connection to the listener at `address`, and the handshake on it.
  static absl::StatusOr<Greeting> Begin(const SocketAddress& address, const std::string& secret,
                                        Purpose purpose, MonotonicTime deadline);

  // Returns the descriptor and event to poll for.
  pollfd descriptor() const;
  // Proceeds as far as it can without blocking. Returns an error if the connection fails, the peer
  // can't authenticate or the deadline has passed.
  absl::Status Step(MonotonicTime now);
  bool done() const { return handshake_.done() && output_.empty(); }
  Purpose purpose() const { return handshake_.purpose(); }

  // Returns the connection, from which only the handshake was read. REQUIRES: done().
  UniqueFd TakeSocket() { return std::move(socket_); }

 private:
  Greeting(UniqueFd socket, Handshake handshake, MonotonicTime deadline);

  absl::Status SendOutput();
  // Returns false if nothing has arrived.
  absl::StatusOr<bool> ReadInput();

  UniqueFd socket_;
  Handshake handshake_;
  MonotonicTime deadline_;
  std::string output_;
};

}  // namespace meshwright::gang
