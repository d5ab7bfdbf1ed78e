// StateDir is the folder that keeps an agent's identity and undelivered results when its process
// ends.
//
// Only one process may hold the folder. Two agents that share it would deliver results twice. Since
// they would have the same identity, each could also replace the other at the server.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::agent {

class StateDir {
 public:
  // Creates the folder if needed and locks it for this object's lifetime. The kernel releases the
  // lock when the process ends, even if it is killed. Returns FailedPrecondition, naming the agent
  // and process that hold the folder, if it is locked already. `random` generates a new folder's
  // identity.
  static absl::StatusOr<StateDir> Open(const std::string& folder, const std::string& agent,
                                       const std::function<uint64_t()>& random);

  // Returns 32 hexadecimal digits, the same in every process that opens this folder.
  const std::string& identity() const { return identity_; }
  // Returns the folder of undelivered results (executor/agent/result_box.h).
  std::string results() const { return folder_ + "/results"; }
  // Returns the file of the servers' epochs (executor/agent/known_epochs.h).
  std::string epochs() const { return folder_ + "/epochs"; }
  // Returns the folder in which commands run. First removes everything in it that an earlier
  // process left behind when it was killed. Returns Unavailable if the folder can't be made.
  absl::StatusOr<std::string> EmptyRuns() const;

 private:
  StateDir(std::string folder, UniqueFd lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}
  absl::Status ReadOrMakeIdentity(const std::function<uint64_t()>& random);

  std::string folder_;
  UniqueFd lock_;
  std::string identity_;
};

}  // namespace meshwright::agent
