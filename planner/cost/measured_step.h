// A step put together from what single ranks were measured to do and what their communication would
// cost: the answer for a cluster from one device (a slice trial).
//
// Measured: each pipeline rank's computation of one micro-batch, and its optimizer. Modelled:
// everything that takes more than one rank. The pipeline's schedule is simulated with their sums.
#pragma once

#include <array>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/cost/time_part.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// One micro-batch in one chunk, seconds: compute is measured; of communication, which is modelled,
// tp, cp and dp have what nothing hides. A backward pass that is not split is an input gradient
// without a weight gradient.
struct MeasuredChunk {
  TimeParts forward;
  TimeParts input_gradient;
  TimeParts weight_gradient;
};

struct MeasuredRank {
  std::vector<MeasuredChunk> chunks;  // vpp
  double dp_behind_s = 0.0;  // modelled: reductions behind the last action that nothing hides
  double optimizer_s = 0.0;  // measured
};

// Where each part of a composed step comes from.
inline constexpr std::array kMeasuredParts = {TimePart::kCompute, TimePart::kOptimizer};
// Messages between stages (pp) are what they add to the pipeline.
inline constexpr std::array kModelledParts = {TimePart::kTp, TimePart::kCp, TimePart::kPp,
                                              TimePart::kDp, TimePart::kStraggler};
inline constexpr std::array kSimulatedParts = {TimePart::kBubble};

// Seconds of one step of the pipeline rank that ends last, by what it spends them on.
struct ComposedStep : TimeParts {
  using TimeParts::TimeParts;

  double step_s() const { return total_s(); }

  friend bool operator==(const ComposedStep&, const ComposedStep&) = default;
};

// `ranks` are by pipeline rank. Requires a layout that CheckLayout() accepts; InvalidArgument where
// ranks or chunks are missing.
absl::StatusOr<ComposedStep> ComposeStep(const EstimateContext& context, const Layout& layout,
                                         const std::vector<MeasuredRank>& ranks);

}  // namespace meshwright::planner
