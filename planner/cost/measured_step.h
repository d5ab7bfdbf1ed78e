// A step put together from what single ranks were measured to do and what their communication would
// cost: the answer for a cluster from one device (a slice trial).
//
// Measured: each pipeline rank's computation of one micro-batch, and its optimizer. Modelled:
// everything that takes more than one rank. The pipeline's schedule is simulated with their sums.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// One part (forward, input gradient, weight gradient) of one micro-batch in one chunk, seconds.
struct MeasuredPart {
  double compute_s = 0.0;  // measured
  // Modelled: communication that nothing hides.
  double tp_s = 0.0;
  double cp_s = 0.0;
  double dp_s = 0.0;

  double total_s() const { return compute_s + tp_s + cp_s + dp_s; }

  friend bool operator==(const MeasuredPart&, const MeasuredPart&) = default;
};

// A backward pass that is not split is an input gradient without a weight gradient.
struct MeasuredChunk {
  MeasuredPart forward;
  MeasuredPart input_gradient;
  MeasuredPart weight_gradient;
};

struct MeasuredRank {
  std::vector<MeasuredChunk> chunks;  // vpp
  double dp_behind_s = 0.0;  // modelled: reductions behind the last action that nothing hides
  double optimizer_s = 0.0;  // measured
};

// Seconds of one step of the pipeline rank that ends last, by what it spends them on.
struct ComposedStep {
  // Measured.
  double compute_s = 0.0;
  double optimizer_s = 0.0;
  // Modelled.
  double tp_s = 0.0;
  double cp_s = 0.0;
  double pp_s = 0.0;  // what messages between stages add to the pipeline
  double dp_s = 0.0;
  double straggler_s = 0.0;  // waiting for devices that are slower than the average one
  // Simulated from the above.
  double bubble_s = 0.0;

  double step_s() const {
    return compute_s + optimizer_s + tp_s + cp_s + pp_s + dp_s + straggler_s + bubble_s;
  }

  friend bool operator==(const ComposedStep&, const ComposedStep&) = default;
};

// `ranks` are by pipeline rank. Requires a layout that CheckLayout() accepts; InvalidArgument where
// ranks or chunks are missing.
absl::StatusOr<ComposedStep> ComposeStep(const EstimateContext& context, const Layout& layout,
                                         const std::vector<MeasuredRank>& ranks);

}  // namespace meshwright::planner
