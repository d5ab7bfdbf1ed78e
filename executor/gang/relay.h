// The thread that brings the bytes of workers from host to host: it takes connections from a
// listener, shakes hands for them and joins them to others as tunnels, all at once.
//
// A leader's takes what comes to the gate and joins tunnels to the store of rank 0; a follower's
// takes its workers and joins them to the gate.
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

// A connection on its way to be a tunnel.
struct Newcomer {
  Greeting greeting;
  UniqueFd worker;  // whose it is; on a follower
};

struct RelayOptions {
  int listener = -1;  // outlives the relay; nothing waits in it
  // These two are called on the relay's thread and must not block. What an accepted connection has
  // to go through; an error drops it.
  std::function<absl::StatusOr<Newcomer>(UniqueFd accepted)> admit;
  // What is joined to what, once hands are shaken; nothing where the connection is for others.
  std::function<std::optional<TunnelEnds>(Newcomer newcomer)> join;
  MonotonicClock clock = MonotonicNow;
};

class Relay {
 public:
  static absl::StatusOr<std::unique_ptr<Relay>> Start(RelayOptions options);
  // Closes all that it has.
  ~Relay();

 private:
  Relay(RelayOptions options, UniqueFd wake);

  void Loop();
  // Returns false where it is time to end.
  bool WaitForSomething();
  void AcceptAll();
  void Admit(UniqueFd accepted);
  void ShakeHands();
  // For one more to wait, if need be in place of one who has had its time.
  bool MakeRoom();

  struct Waiting {
    Newcomer newcomer;
    MonotonicTime since;
  };

  const RelayOptions options_;
  const UniqueFd wake_;
  bool rests_ = false;  // from accepting, for which there was no descriptor
  std::vector<Waiting> waiting_;
  Tunnels tunnels_;
  std::thread thread_;
};

}  // namespace meshwright::gang
