// A connection to a gate while its two ends shake hands (executor/gang/handshake.h).
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
  // Of a connection that came to the gate.
  static absl::StatusOr<Greeting> OfListener(UniqueFd socket, const std::string& secret,
                                             MonotonicTime deadline);
  // Begins to connect to the gate.
  static absl::StatusOr<Greeting> Begin(const SocketAddress& gate, const std::string& secret,
                                        Purpose purpose, MonotonicTime deadline);

  // What it waits for.
  pollfd descriptor() const;
  // Goes as far as it can without waiting. An error where the connection fails, the other end is a
  // stranger or the deadline has passed.
  absl::Status Step(MonotonicTime now);
  bool done() const { return handshake_.done() && output_.empty(); }
  Purpose purpose() const { return handshake_.purpose(); }

  // The connection, of which nothing was read but the handshake. Requires that it is done.
  UniqueFd TakeSocket() { return std::move(socket_); }

 private:
  Greeting(UniqueFd socket, Handshake handshake, MonotonicTime deadline);

  absl::Status SendOutput();
  // False where nothing has come.
  absl::StatusOr<bool> ReadInput();

  UniqueFd socket_;
  Handshake handshake_;
  MonotonicTime deadline_;
  std::string output_;
};

}  // namespace meshwright::gang
