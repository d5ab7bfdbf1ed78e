// Relay carries workers' bytes between hosts, on a thread of its own. It accepts connections from a
// listening socket, does their handshakes, and joins each of them to a second connection as a
// tunnel. It serves all connections concurrently.
//
// The leader's relay accepts connections at the gang's listener and joins them to rank 0's store. A
// follower's relay accepts connections of its workers and joins them to the leader's listener.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/system/monotonic_time.h"
#include "base/system/unique_fd.h"
#include "executor/gang/greeting.h"
#include "executor/gang/tunnels.h"

namespace meshwright::gang {

// An accepted connection and its handshake.
struct Newcomer {
  Greeting greeting;
  UniqueFd worker;  // the worker's own connection; set on a follower
};

struct RelayOptions {
  int listener = -1;  // non-blocking; REQUIRES: outlives the relay
  // Returns the handshake that an accepted connection has to pass. An error drops the connection.
  // Runs on the relay's thread and must not block.
  std::function<absl::StatusOr<Newcomer>(UniqueFd accepted)> admit;
  // Returns the two ends to join after the handshake, or nullopt if the connection is not for a
  // tunnel. Runs on the relay's thread and must not block.
  std::function<std::optional<TunnelEnds>(Newcomer newcomer)> join;
  MonotonicClock clock = MonotonicNow;
};

class Relay {
 public:
  static absl::StatusOr<std::unique_ptr<Relay>> Start(RelayOptions options);
  // Closes all connections.
  ~Relay();

 private:
  Relay(RelayOptions options, UniqueFd wake);

  void Loop();
  // Returns false once the relay has to stop.
  bool WaitForSomething();
  void AcceptAll();
  void Admit(UniqueFd accepted);
  void ShakeHands();
  // Returns whether one more connection may wait for its handshake. If too many connections wait,
  // drops the oldest one, provided that it has waited long enough.
  bool MakeRoom();

  struct Waiting {
    Newcomer newcomer;
    MonotonicTime since;
  };

  const RelayOptions options_;
  const UniqueFd wake_;
  bool rests_ = false;  // the relay accepts nothing for a while, since descriptors ran out
  std::vector<Waiting> waiting_;
  Tunnels tunnels_;
  std::thread thread_;
};

}  // namespace meshwright::gang
