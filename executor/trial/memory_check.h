// CheckHostMemory() and CheckDeviceMemory() check that ranks which are about to start fit into the
// memory that is left.
//
// A rank needs the bytes that its allocator is expected to hold (at most the plan's limit) and its
// communicators' buffers. A CPU rank also needs kWorkerOverheadBytes. The CPU ranks of a host share
// the host's memory; if it runs out, the kernel may kill any process there. A GPU belongs to one
// rank. All functions here are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "executor/host/host_memory.h"
#include "executor/trial/trial.h"

namespace meshwright::trial {

// Resident bytes of a CPU rank outside its allocator. With LibTorch 2.11 and Gloo, /proc/PID/status
// showed 148 MiB after a trial's last step: 83 MiB of the process's own memory, and 65 MiB of code.
inline constexpr int64_t kWorkerOverheadBytes = int64_t{150} << 20;

// Returns the bytes that `ranks` of the plan's layout need together when they run concurrently.
// Returns nullopt if the plan has no estimate.
std::optional<int64_t> BytesOfRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks);

// Returns ResourceExhausted if `ranks` together need more than `room`. The error states the sum,
// the memory that is left, the limit that applies, and what would be accepted. Returns OK if the
// plan has no estimate.
absl::Status CheckHostMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                             const host::MemoryRoom& room);

// Returns ResourceExhausted if a rank needs more memory than its own device has. ranks[i] uses the
// device `first_device` + i, whose memory is the entry of that index in `device_memory_bytes`.
// Skips devices without an entry or with an entry of 0. Returns OK if the plan has no estimate.
absl::Status CheckDeviceMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                               const std::vector<int64_t>& device_memory_bytes,
                               int32_t first_device = 0);

}  // namespace meshwright::trial
