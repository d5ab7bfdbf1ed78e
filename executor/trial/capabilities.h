// What the workers can run, as data: CheckRunnable() tests against it, `meshwright-worker
// --capabilities` prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/trial/trial.h"
#include "nlohmann/json.hpp"

namespace meshwright::trial {

// Sizes of a head that CUDA's attention takes in a precision.
struct HeadSizes {
  planner::Precision precision = planner::Precision::kBf16;
  std::optional<planner::AttentionKernel> attention;  // any
  int64_t multiple_of = 1;
  std::optional<int64_t> most;

  bool Take(int64_t head_dim) const {
    return head_dim % multiple_of == 0 && head_dim <= most.value_or(head_dim);
  }
};

struct Capabilities {
  std::vector<DeviceKind> devices;
  std::vector<planner::Precision> precisions;
  std::vector<planner::ScheduleKind> schedules;
  std::vector<planner::Recompute> recompute;
  // What a layout may name, and what is run where it names none.
  std::vector<planner::AttentionKernel> attention;
  planner::AttentionKernel default_attention = planner::AttentionKernel::kDefault;
  int32_t max_zero = 0;
  int32_t max_cp = 1;
  int32_t max_vpp = 1;
  bool sequence_parallel = false;
  bool qk_norm = false;
  std::vector<HeadSizes> cuda_head_dims;
};

const Capabilities& WorkerCapabilities();

nlohmann::json ToJson(const Capabilities& capabilities);

}  // namespace meshwright::trial
