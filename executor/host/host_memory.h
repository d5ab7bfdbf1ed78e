// AvailableMemory() determines how much memory new processes may take on this machine, and which
// limit applies.
//
// If processes exceed the limit of their control group, the kernel kills one of them. If memory
// runs out without such a limit, the kernel may kill any process of the host. These functions read
// /proc and the files of control groups, versions 1 and 2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::host {

// The memory limit of this process's control group, or of a group that contains that group.
struct CgroupMemoryLimit {
  std::string file;  // the file that holds the limit
  int64_t limit_bytes = 0;
  int64_t used_bytes = 0;  // without the page cache, which can be reclaimed

  friend bool operator==(const CgroupMemoryLimit&, const CgroupMemoryLimit&) = default;
};

// Returns the limits of the groups that have one, innermost first. /proc and /sys are looked up
// under `root`.
std::vector<CgroupMemoryLimit> CgroupMemoryLimits(const std::string& root = "/");

struct MemoryRoom {
  int64_t bytes = 0;
  std::string limit;  // names the limit that applies for messages, such as the path of its file

  friend bool operator==(const MemoryRoom&, const MemoryRoom&) = default;
};

// Returns the minimum of the memory that the kernel reports as available and, for each group, its
// limit minus its use. Returns Unavailable if none of these can be read.
absl::StatusOr<MemoryRoom> AvailableMemory(const std::string& root = "/");

}  // namespace meshwright::host
