// Counts the FLOPs of a training step as Megatron-LM and Megatron-Bridge print them. Published
// TFLOP/s of hybrids rest on this count, which differs from what runs.
#pragma once

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the FLOPs of a step, forward and backward. It differs from StepFlops::causal in the
// recurrences: their cores count as RecurrenceWidths::counted_flops, and a Mamba-2 layer, its
// projections included, counts as if its inner width were twice the hidden width. Routers do not
// count. Kinds that Megatron-LM has not count as what runs.
double MegatronStepFlops(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner
