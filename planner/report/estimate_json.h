// The JSON form of an estimate and of a search, which every command prints and the store keeps.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/search/search.h"

namespace meshwright::planner {

// Keys: *_bytes whose sum is total_bytes, fraction_of_device, pipeline_rank.
nlohmann::ordered_json MemoryToJson(const MemoryEstimate& memory, double fraction_of_device);

// Keys: layout, axes, memory (as MemoryToJson), time (*_s whose sum is step_s), mfu, mfu_causal,
// tokens_per_s, tflops_per_gpu, tflops_per_gpu_causal, tokens_per_s_per_gpu, oom_probability,
// step_low_s, step_high_s. The store keeps this form and reads it as v1::LayoutEstimate.
nlohmann::ordered_json LayoutToJson(const Layout& layout, const Estimate& estimate);

// Keys: enumerated, invalid, memory, evaluated, invalid_by_rule (only rules that dropped
// something).
nlohmann::ordered_json FunnelToJson(const Funnel& funnel);

}  // namespace meshwright::planner
