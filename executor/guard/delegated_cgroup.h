// DelegatedCgroup is the control group (Linux's cgroup v2) that systemd delegated to this process.
// Each run of a command gets a group of its own below it.
//
// A group counts as delegated only if systemd marked it so (Delegate=yes sets the extended
// attribute user.delegate, or trusted.delegate) and this user may write it. A group that merely
// happens to be writable, such as a group of root's login session, may be managed by someone else.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::guard {

// Files of proc(5) that say in which group this process is and where groups are mounted.
struct CgroupSources {
  std::string own_groups = "/proc/self/cgroup";
  std::string mounts = "/proc/self/mountinfo";
};

// RunGroup is the group of one run. When it goes out of scope, its processes are killed and the
// group is removed, if the guard has not done so.
class RunGroup {
 public:
  RunGroup(std::string path, bool limits_memory)
      : path_(std::move(path)), limits_memory_(limits_memory) {}
  RunGroup(RunGroup&& other) noexcept
      : path_(std::exchange(other.path_, "")), limits_memory_(other.limits_memory_) {}
  RunGroup& operator=(RunGroup&&) = delete;
  ~RunGroup();

  const std::string& path() const { return path_; }
  // Whether the group limits the memory of its processes.
  bool limits_memory() const { return limits_memory_; }

 private:
  std::string path_;
  bool limits_memory_;
};

class DelegatedCgroup {
 public:
  // Takes the group of this process for its runs. Moves the process into a group `agent` below it,
  // because a group that has processes of its own can't limit the memory of groups below it.
  // Removes the groups of runs that an earlier process left behind when it was killed. Returns
  // FailedPrecondition with the reason if the group was not delegated, another process has taken
  // it, or it can't be used.
  static absl::StatusOr<DelegatedCgroup> Take(const CgroupSources& sources = {});

  // Makes the group of a run whose processes may together hold `memory_limit_bytes` (0: no limit).
  // The limit is set only if limits_memory(). Returns Unavailable if the group can't be made or
  // limited.
  absl::StatusOr<RunGroup> MakeRun(int64_t memory_limit_bytes) const;

  const std::string& path() const { return path_; }
  // Whether the memory controller was delegated too.
  bool limits_memory() const { return limits_memory_; }

 private:
  DelegatedCgroup(std::string path, UniqueFd lock, bool limits_memory)
      : path_(std::move(path)), lock_(std::move(lock)), limits_memory_(limits_memory) {}

  std::string path_;
  // Held for this object's lifetime. The kernel releases it if the process is killed.
  UniqueFd lock_;
  bool limits_memory_;
};

}  // namespace meshwright::guard
