// The processor cores that this process may use, and parts of them for what runs side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace meshwright::host {

// A physical core: its hardware threads, by the kernel's numbers.
using Core = std::vector<int>;

// Those of the calling thread's affinity mask, the cores of a package behind each other. At least
// one.
std::vector<Core> Cores();

// The hardware threads of `count` parts from `first` on, of as many as there are `parts`. A part
// has cores that follow each other and that no other part has, as many as each other one; what is
// left over is nobody's. There are at least as many cores as parts.
std::vector<int> HardwareThreadsOf(const std::vector<Core>& cores, int32_t first, int32_t count,
                                   int32_t parts);

// The calling thread, and what it starts from now on, runs on these hardware threads alone.
absl::Status BindThisThread(const std::vector<int>& hardware_threads);

}  // namespace meshwright::host
