// How much memory processes that start now may take on this machine, and what says so.
//
// The kernel ends a process that takes more, and on a host without control groups any process may
// be the one. Reads /proc and the files of control groups, versions 1 and 2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::host {

// The limit of a control group that this process is in, itself or through its parents.
struct CgroupMemoryLimit {
  std::string file;  // that holds the limit
  int64_t limit_bytes = 0;
  int64_t used_bytes = 0;  // without the page cache, which gives way

  friend bool operator==(const CgroupMemoryLimit&, const CgroupMemoryLimit&) = default;
};

// From the innermost group outwards, those that have a limit. `root` is the folder in which /proc
// and /sys are looked for.
std::vector<CgroupMemoryLimit> CgroupMemoryLimits(const std::string& root = "/");

struct MemoryRoom {
  int64_t bytes = 0;
  std::string limit;  // what leaves no more, as a reader can look it up

  friend bool operator==(const MemoryRoom&, const MemoryRoom&) = default;
};

// The least of what the kernel holds to be available and what each group's limit leaves.
// Unavailable where nothing of that can be read.
absl::StatusOr<MemoryRoom> AvailableMemory(const std::string& root = "/");

}  // namespace meshwright::host
