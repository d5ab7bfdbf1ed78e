// Checks that the ranks about to start fit into the memory that is left.
//
// A rank needs what its allocator is expected to hold, at most the plan's limit, plus its
// communicators' buffers. CPU ranks of one host share its memory, and one too many may get any
// process there killed; a GPU belongs to its rank alone. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "executor/host/host_memory.h"
#include "executor/trial/trial.h"

namespace meshwright::trial {

// Resident bytes of a CPU rank beside its allocator: 148 MiB with LibTorch 2.11 and Gloo by
// /proc/PID/status after a trial's last step, of which 83 MiB are the process's own and the rest
// code.
inline constexpr int64_t kWorkerOverheadBytes = int64_t{150} << 20;

// Returns the bytes that `ranks` of the plan's layout need together when they run concurrently;
// nothing where the plan has no estimate.
std::optional<int64_t> BytesOfRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks);

// ResourceExhausted with the sum, what is left and why not more, and what would be accepted. OK
// where the plan has no estimate.
absl::Status CheckHostMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                             const host::MemoryRoom& room);

// Checks each rank against its own device. The first rank uses device `first_device` of those in
// `device_memory_bytes`; entries of 0 and missing devices count as unknown.
absl::Status CheckDeviceMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                               const std::vector<int64_t>& device_memory_bytes,
                               int32_t first_device = 0);

}  // namespace meshwright::trial
