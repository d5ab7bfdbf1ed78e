// What a row's notes say about experts, in the words of the tables that measurements come from
// ("experts=256;top_k=8;etp=tied to tp") and of Megatron-LM's flags ("num-experts=8
// moe-router-topk=2 expert-tensor-parallel-size=1").
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns the model of a row with experts: `known` where it has experts, with the row's number of
// layers; else one whose shape the notes and the row's columns give. InvalidArgument names what is
// not said.
absl::StatusOr<ModelSpec> ExpertModelOf(const Measurement& row, ModelSpec known);

// Returns over how many ranks each expert is divided. Where a row does not say it, as many as tp,
// Megatron-LM's default.
int64_t ExpertTensorRanksOf(const Measurement& row);

}  // namespace meshwright::planner
