// Counts the FLOPs of a training step as Megatron-LM and Megatron-Bridge print them. Published
// TFLOP/s of models with recurrences use this count, which differs from the FLOPs that run.
#pragma once

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the FLOPs of a step, forward and backward. The count differs from StepFlops::causal in
// two parts. Cores of recurrences count as RecurrenceWidths::counted_flops, and a Mamba-2 layer,
// its projections included, counts as if its inner width were twice the hidden width. Routers do
// not count. Recurrences of kinds that Megatron-LM lacks count with the FLOPs that run.
double MegatronStepFlops(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner
