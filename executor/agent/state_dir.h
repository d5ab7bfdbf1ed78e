// StateDir is an agent's folder: what outlives its process.
//
// Only one process may hold it: two agents sharing a folder would deliver results twice, and
// sharing an identity would let each replace the other at the server.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::agent {

class StateDir {
 public:
  // Creates the folder if needed and locks it for this object's lifetime; the lock ends with the
  // process, even if killed. FailedPrecondition names the agent and process that hold it. `random`
  // generates a new folder's identity.
  static absl::StatusOr<StateDir> Open(const std::string& folder, const std::string& agent,
                                       const std::function<uint64_t()>& random);

  // 32 hexadecimal digits, the same in every process that held this folder.
  const std::string& identity() const { return identity_; }
  // Folder of undelivered results (executor/agent/result_box.h).
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
