// The folder of an agent: what outlives its process.
//
// One process at a time has it: results of two agents in one folder would be delivered twice, and
// an identity that two agents have would let each take the other's place at the server.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::agent {

class StateDir {
 public:
  // Makes the folder where there is none, and takes it for as long as this object lives; a process
  // that is killed leaves it. FailedPrecondition names the agent and the process that have it.
  // `random` makes the identity of a new folder.
  static absl::StatusOr<StateDir> Open(const std::string& folder, const std::string& agent,
                                       const std::function<uint64_t()>& random);

  // 32 hexadecimal digits, the same in every process that had this folder.
  const std::string& identity() const { return identity_; }
  // Where results wait for their server (executor/agent/result_box.h).
  std::string results() const { return folder_ + "/results"; }

 private:
  StateDir(std::string folder, UniqueFd lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}
  absl::Status ReadOrMakeIdentity(const std::function<uint64_t()>& random);

  std::string folder_;
  UniqueFd lock_;
  std::string identity_;
};

}  // namespace meshwright::agent
