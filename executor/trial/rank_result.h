// What one rank of a trial held and did.
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
  int64_t peak_bytes = 0;            // most that tensors held at once
  int64_t estimated_bytes = 0;       // the plan's figure for the same thing, 0 where it has none
  int64_t peak_host_bytes = 0;       // most that it held on its host, of what its layout offloads
  int64_t estimated_host_bytes = 0;  // the plan's figure for that, 0 where it has none
  int32_t peak_in_flight = 0;        // most micro-batches between forward and backward
  PhaseSeconds phases = {};          // of a step: means over the timed steps
  std::vector<CommunicationTotal> communication = {};           // likewise
  std::optional<DeviceMemoryUse> device_memory = std::nullopt;  // nothing on a CPU
  int64_t estimated_communicator_bytes = 0;  // the plan's figure for communicators' buffers
  // The most tokens that its experts took of a micro-batch, over an even share of them, in any
  // layer; 0 of a model without experts.
  double expert_load = 0.0;
  // That each of its experts took in all layers and steps.
  std::vector<int64_t> expert_tokens = {};
  // The planner's figure for peak_bytes given where tokens went in the trial's steps
  // (executor/trial/routed_memory.h); nothing where they went by force.
  std::optional<int64_t> estimated_routed_bytes = std::nullopt;

  friend bool operator==(const RankResult&, const RankResult&) = default;
};

}  // namespace meshwright::trial
