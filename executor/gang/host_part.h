// HostPart is what one member of a gang runs on its host: the workers of its ranks, or one command
// of the user's framework for all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/gang/remote_member.h"
#include "executor/trial/rank_process.h"
#include "executor/trial/trial.h"

namespace meshwright::gang {

// A process of this host, and the first of the ranks that it runs.
struct LocalRank {
  int32_t rank = 0;
  std::unique_ptr<trial::LocalProcess> process;
};

// Where the processes of all members find rank 0's store.
struct StoreAddress {
  std::string host;  // numeric, or the name by which the leader is reached
  uint16_t port = 0;
};

using Followers = std::vector<std::shared_ptr<RemoteMember>>;

class HostPart {
 public:
  virtual ~HostPart() = default;

  // Returns an error if this host can't run its part; the error would be the same on any host.
  virtual absl::Status Check() const = 0;
  // Returns the port of this host at which rank 0's store is, or will be. Called on the leader
  // once, before Start().
  virtual absl::StatusOr<uint16_t> OpenStore() = 0;
  // Returns whether the processes of followers reach the store through the gang's listener, at a
  // port of their own loopback; otherwise they reach it at the leader's address.
  virtual bool is_tunnelled() const = 0;
  virtual absl::StatusOr<std::vector<LocalRank>> Start(const StoreAddress& store) = 0;
  // The longest time that killed processes take to end.
  virtual std::chrono::milliseconds longest_kill() const = 0;
  // Runs on the leader once all followers were told to start. Watches all processes until the run
  // is over, ends them, and returns the trial's result.
  virtual trial::TrialResult Watch(std::vector<LocalRank> own, const Followers& followers) = 0;
};

}  // namespace meshwright::gang
