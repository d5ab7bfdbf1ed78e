// Reads the layout of a measured run from the words that its source used. All functions return
// InvalidArgument, which names the column, if a value is missing, unknown or out of range.
#pragma once

#include "absl/status/statusor.h"
#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the devices of the run: `gpus`, or the product of the axes if `gpus` is empty.
absl::StatusOr<int64_t> DevicesOf(const Measurement& row);

// Returns the number of sequences in a step that has one micro-batch on each data-parallel rank.
// This is the smallest batch that the run can have had. An empty `mbs` counts as 1.
absl::StatusOr<int64_t> LeastGlobalBatch(const Measurement& row);

// Returns the layout of the run. The layout is not checked against the rules.
//
// - Empty cells: cp, vpp and the micro-batch are 1, nothing is recomputed, kernels are the
//   framework's default, and dp follows from the number of devices. ZeRO is 3 under FSDP and
//   `unsaid_zero` otherwise. The schedule is interleaved if vpp > 1, and 1F1B otherwise.
// - Settings without effect are left out, as in the planner's own layouts: sequence parallelism
//   without tp, ZeRO without ranks to shard over, and recomputed modules that the model does not
//   have.
// - If the model has experts, ep must be given, etp is ExpertTensorRanksOf(), and an empty
//   `seq_parallel` means on if tp > 1, as in Megatron-LM. Otherwise ep and etp are left out.
absl::StatusOr<Layout> LayoutOf(const Measurement& row, const ModelSpec& model = ModelSpec(),
                                int32_t unsaid_zero = 0);

// Returns the precision that the source names. fp16 and an empty cell count as bf16. Words such as
// "fp8-cs" name a recipe of 8 or 4 bits.
absl::StatusOr<Precision> PrecisionOf(const Measurement& row);

}  // namespace meshwright::planner
