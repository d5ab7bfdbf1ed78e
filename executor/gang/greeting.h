// A connection to a gate while its two ends shake hands (executor/gang/handshake.h).
#pragma once

#include <poll.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/gang/handshake.h"
#include "executor/gang/socket_address.h"
#include "executor/host/monotonic_time.h"
#include "executor/trial/unique_fd.h"

namespace meshwright::gang {

class Greeting {
 public:
  // Of a connection that came to the gate.
  static absl::StatusOr<Greeting> OfGate(trial::UniqueFd socket, const std::string& secret,
                                         host::MonotonicTime deadline);
  // Begins to connect to the gate.
  static absl::StatusOr<Greeting> Begin(const SocketAddress& gate, const std::string& secret,
                                        Purpose purpose, host::MonotonicTime deadline);

  // What it waits for.
  pollfd descriptor() const;
  // Goes as far as it can without waiting. An error where the connection fails, the other end is a
  // stranger or the deadline has passed.
  absl::Status Step(host::MonotonicTime now);
  bool done() const { return handshake_.done() && output_.empty(); }
  Purpose purpose() const { return handshake_.purpose(); }

  // The connection, of which nothing was read but the handshake. Requires that it is done.
  trial::UniqueFd TakeSocket() { return std::move(socket_); }

 private:
  Greeting(trial::UniqueFd socket, Handshake handshake, host::MonotonicTime deadline);

  absl::Status SendOutput();
  // False where nothing has come.
  absl::StatusOr<bool> ReadInput();

  trial::UniqueFd socket_;
  Handshake handshake_;
  host::MonotonicTime deadline_;
  std::string output_;
};

}  // namespace meshwright::gang
