// The layout of a measured run, read from the words that its source used.
#pragma once

#include "absl/status/statusor.h"
#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Devices of the run: `gpus`, or the product of the axes where that is empty. InvalidArgument names
// the column that is missing or out of range, as all functions here do.
absl::StatusOr<int64_t> DevicesOf(const Measurement& row);

// Sequences of a step with one micro-batch on each rank (1 where `mbs` is empty): the least that a
// run of these ranks can have had.
absl::StatusOr<int64_t> LeastGlobalBatch(const Measurement& row);

// Empty cells: cp, vpp and micro-batch 1, no recompute, ZeRO `unsaid_zero` (3 under fsdp), kernels
// as the framework's default, interleaved where vpp > 1 and 1f1b elsewhere; dp is what the devices
// leave. What has no effect is left out as the planner does: sequence parallel without tp, ZeRO
// without ranks to shard over. The result is not checked against the rules.
// With experts ep must be there, etp is tp and sequence parallel is on where tp is above 1, as in
// Megatron-LM; without them both are left out. Recomputed modules that the model does not have are
// left out too, as their flags do nothing.
absl::StatusOr<Layout> LayoutOf(const Measurement& row, const ModelSpec& model = ModelSpec(),
                                int32_t unsaid_zero = 0);

// bf16 also for fp16 and where nothing is said; recipes of 8 and 4 bits by the sources' words.
// InvalidArgument for others.
absl::StatusOr<Precision> PrecisionOf(const Measurement& row);

}  // namespace meshwright::planner
