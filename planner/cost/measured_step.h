// A step put together from what single ranks were measured to do and what their communication would
// cost: the answer for a cluster from one device (a slice trial).
//
// Measured: each stage's computation of one micro-batch, and the optimizer. Modelled: everything
// that takes more than one rank. The pipeline's schedule is simulated with the stages' times.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "planner/cost/step_shape.h"
#include "planner/profile/context.h"
#include "planner/schedule/stage_durations.h"

namespace meshwright {

// One micro-batch on one stage, without communication, in seconds.
struct MeasuredStage {
  StageDurations compute;  // recompute is part of the input gradient
  // The TP collectives that ran in it, by the cost model.
  double tp_forward_s = 0.0;
  double tp_backward_s = 0.0;
};

struct MeasuredStep {
  std::vector<MeasuredStage> stages = {};  // pp * vpp
  double optimizer_s = 0.0;                // of the slowest rank
};

// Seconds of one step of the slowest pipeline rank, by what it spends them on; they add up to
// step_s.
struct ComposedStep {
  double step_s = 0.0;
  double compute_s = 0.0;    // measured
  double optimizer_s = 0.0;  // measured
  double tp_s = 0.0;         // modelled, as what follows
  double cp_s = 0.0;
  double bubble_s = 0.0;  // simulated: idle time of the rank, with the hops that it waits for
  double dp_s = 0.0;
  double straggler_s = 0.0;
};

// Requires a layout that CheckLayout() accepts, and one stage for each of its chunks.
absl::StatusOr<ComposedStep> ComposeStep(const EstimateContext& context, const Layout& layout,
                                         const MeasuredStep& measured);

}  // namespace meshwright
