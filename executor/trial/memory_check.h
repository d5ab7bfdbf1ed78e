// Whether the ranks that are about to be started fit the memory that is left for them.
//
// A rank takes what its allocator is expected to hold, at most the plan's limit, and what its
// communicators take beside it. On a CPU all ranks of a host share its memory, and one too many may
// end any process there; a device is its rank's alone. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "executor/host/host_memory.h"
#include "executor/trial/trial.h"

namespace meshwright::trial {

// Resident beside what a CPU rank's allocator holds: 148 MiB with LibTorch 2.11 and Gloo, as
// /proc/PID/status has it after a trial's last step, 83 MiB of it the process' own and the rest
// code.
inline constexpr int64_t kWorkerOverheadBytes = int64_t{150} << 20;

// What `ranks` of the plan's layout take together while they run at once. Nothing where the plan
// has no estimate.
std::optional<int64_t> BytesOfRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks);

// ResourceExhausted with the sum, what is left, what leaves no more, and what would be accepted. OK
// where the plan has no estimate.
absl::Status CheckHostMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                             const host::MemoryRoom& room);

// The same for each rank alone on its device, the first rank's being `first_device` of those that
// `device_memory_bytes` is about; 0 and devices that it lacks are not known.
absl::Status CheckDeviceMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                               const std::vector<int64_t>& device_memory_bytes,
                               int32_t first_device = 0);

}  // namespace meshwright::trial
