// Relay carries workers' bytes between hosts on a thread of its own: it accepts connections from a
// listening socket, shakes hands for them and joins them to others as tunnels, all concurrently.
//
// The leader's relay accepts from the gang's listener and joins tunnels to rank 0's store; a
// follower's accepts its workers and joins them to the leader's listener.
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

// A connection on its way to become a tunnel.
struct Newcomer {
  Greeting greeting;
  UniqueFd worker;  // the worker's own connection; set on a follower
};

struct RelayOptions {
  int listener = -1;  // non-blocking; REQUIRES: outlives the relay
  // Both callbacks run on the relay's thread and must not block. `admit` returns the handshake that
  // an accepted connection has to pass; an error drops it.
  std::function<absl::StatusOr<Newcomer>(UniqueFd accepted)> admit;
  // Returns the two ends to join after the handshake; nothing where the connection is no tunnel.
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
  // Returns whether one more connection may wait. Drops the oldest if need be, once it had its
  // time.
  bool MakeRoom();

  struct Waiting {
    Newcomer newcomer;
    MonotonicTime since;
  };

  const RelayOptions options_;
  const UniqueFd wake_;
  bool rests_ = false;  // accepting pauses, since descriptors ran out
  std::vector<Waiting> waiting_;
  Tunnels tunnels_;
  std::thread thread_;
};

}  // namespace meshwright::gang
