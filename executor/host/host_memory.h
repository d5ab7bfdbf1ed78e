// Determines how much memory new processes may take on this machine, and which limit applies.
//
// The kernel kills a process that exceeds a control group's limit; on a host without control groups
// it may kill any process. Reads /proc and the files of control groups, versions 1 and 2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::host {

// The limit of a control group that contains this process, directly or through its parents.
struct CgroupMemoryLimit {
  std::string file;  // the file with the limit
  int64_t limit_bytes = 0;
  int64_t used_bytes = 0;  // without the page cache, which can be reclaimed

  friend bool operator==(const CgroupMemoryLimit&, const CgroupMemoryLimit&) = default;
};

// Returns the groups that have a limit, innermost first. /proc and /sys are looked up under `root`.
std::vector<CgroupMemoryLimit> CgroupMemoryLimits(const std::string& root = "/");

struct MemoryRoom {
  int64_t bytes = 0;
  std::string limit;  // the binding limit, as a reader can look it up

  friend bool operator==(const MemoryRoom&, const MemoryRoom&) = default;
};

// Returns the minimum of the kernel's available memory and what each group's limit leaves.
// Unavailable where none of these can be read.
absl::StatusOr<MemoryRoom> AvailableMemory(const std::string& root = "/");

}  // namespace meshwright::host
