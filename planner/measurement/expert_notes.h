// Reads what a row's notes say about experts. The notes use the words of the tables that
// measurements come from ("experts=256;top_k=8;etp=tied to tp"), or Megatron-LM's flags
// ("num-experts=8 moe-router-topk=2 expert-tensor-parallel-size=1").
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns the model of a row with experts. If `known` has experts, the model is `known` with the
// row's number of layers. Otherwise the notes and the row's columns give the model's shape. Returns
// InvalidArgument, which names the column, if a size is missing or contradicts `known`.
absl::StatusOr<ModelSpec> ExpertModelOf(const Measurement& row, ModelSpec known);

// Returns the number of ranks that share each expert. If the row does not give it, the default is
// tp, as in Megatron-LM. The default is 1 if the notes mention parallel folding, or if the row has
// fewer ranks than ep * tp.
int64_t ExpertTensorRanksOf(const Measurement& row);

}  // namespace meshwright::planner
