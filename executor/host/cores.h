// Cores() lists the processor cores that this process may use, and HardwareThreadsOf() divides them
// over concurrent trials.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace meshwright::host {

// A physical core: the kernel's numbers of its hardware threads.
using Core = std::vector<int>;

// Returns the cores in the calling thread's affinity mask, at least one, grouped by package.
std::vector<Core> Cores();

// Divides `cores` into `parts` equal, disjoint parts of consecutive cores and returns the hardware
// threads of the parts from `first` to `first + count - 1`. Cores left over belong to no part.
// REQUIRES: there are at least as many cores as parts.
std::vector<int> HardwareThreadsOf(const std::vector<Core>& cores, int32_t first, int32_t count,
                                   int32_t parts);

// Restricts the calling thread, and threads and processes that it starts later, to these hardware
// threads.
absl::Status BindThisThread(const std::vector<int>& hardware_threads);

}  // namespace meshwright::host
