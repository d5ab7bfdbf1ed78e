// Relay carries workers' bytes between hosts, on a thread of its own. It accepts connections from a
// listening socket, does their handshakes, and joins each of them to a second connection as a
// tunnel. It serves all connections concurrently.
//
// The leader's relay accepts connections at the gang's listener and joins them to rank 0's store. A
// follower's relay accepts connections of its workers and joins them to the leader's listener.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/system/monotonic_time.h"
#include "base/system/unique_fd.h"
#include "executor/gang/tls_socket.h"
#include "executor/gang/tunnels.h"

namespace meshwright::gang {

struct RelayOptions {
  int listener = -1;  // non-blocking; REQUIRES: outlives the relay
  // Begins the handshake of the far end for an accepted connection, which becomes either end of a
  // tunnel. An error drops the connection. Runs on the relay's thread and must not block.
  std::function<absl::StatusOr<TunnelEnds>(UniqueFd accepted)> admit;
  // Sets the ends of a tunnel that are still missing after the handshake. Returns false if there is
  // no tunnel to make of `ends`. Runs on the relay's thread and must not block.
  std::function<bool(TunnelEnds& ends)> join;
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
    TunnelEnds ends;
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
