// RankResult holds what one rank of a trial used and did.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/trial/memory_peaks.h"
#include "executor/trial/step_profile.h"

namespace meshwright::trial {

struct RankResult {
  int32_t rank = 0;
  int32_t pipeline_rank = 0;
  int64_t peak_bytes = 0;            // peak bytes of live tensors
  int64_t estimated_bytes = 0;       // the plan's estimate of peak_bytes, 0 without one
  int64_t peak_host_bytes = 0;       // peak bytes that its layout offloaded to the host
  int64_t estimated_host_bytes = 0;  // the plan's estimate of that, 0 without one
  int32_t peak_in_flight = 0;        // most micro-batches between forward and backward
  PhaseSeconds phases = {};          // of one step: means over the timed steps
  std::vector<CommunicationTotal> communication = {};           // of one step, likewise
  std::optional<DeviceMemoryUse> device_memory = std::nullopt;  // absent on a CPU
  int64_t estimated_communicator_bytes = 0;  // the plan's estimate of communicators' buffers
  // Most tokens that the rank's experts received from a micro-batch in any layer, relative to an
  // even share; 0 in a model without experts.
  double expert_load = 0.0;
  // Tokens that each of its experts received, over all layers and steps.
  std::vector<int64_t> expert_tokens = {};
  // The planner's estimate of peak_bytes given the routing measured in the trial's steps
  // (executor/trial/routed_memory.h); absent where routing was forced.
  std::optional<int64_t> estimated_routed_bytes = std::nullopt;

  friend bool operator==(const RankResult&, const RankResult&) = default;
};

}  // namespace meshwright::trial
