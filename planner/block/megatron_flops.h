// Counts the FLOPs of a training step as Megatron-LM and Megatron-Bridge print them. Published
// TFLOP/s of models with recurrences use this count, which differs from the FLOPs that run.
#pragma once

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the FLOPs of a step, forward and backward. Routers do not count. For recurrences the
// count differs from StepFlops::causal: cores count as RecurrenceWidths::counted_flops, and a
// Mamba-2 layer counts as if its inner width were twice the hidden width. Recurrences of kinds that
// Megatron-LM lacks count with the FLOPs that run.
double MegatronStepFlops(const ModelSpec& model, const TrainingSpec& training);

}  // namespace meshwright::planner
