// Composes the time of a step from single ranks that were measured alone and from the modelled time
// of their communication (a slice trial: what one device can tell of a cluster).
//
// Each pipeline rank's computation of one micro-batch and its optimizer are measured. Everything
// that takes more than one rank is modelled. The pipeline's schedule is simulated with the sums of
// both.
#pragma once

#include <array>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/cost/time_part.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Seconds of one micro-batch in one chunk. Compute is measured; tp, cp and dp are modelled and hold
// only what compute does not hide. A backward pass that is not split is in input_gradient, and
// weight_gradient is 0.
struct MeasuredChunk {
  TimeParts forward;
  TimeParts input_gradient;
  TimeParts weight_gradient;
};

struct MeasuredRank {
  std::vector<MeasuredChunk> chunks;  // vpp
  double dp_behind_s = 0.0;           // modelled: exposed reductions after the last action
  double optimizer_s = 0.0;           // measured
};

// The parts of a composed step that are measured, modelled and simulated.
inline constexpr std::array kMeasuredParts = {TimePart::kCompute, TimePart::kOptimizer};
// The kPp part of messages between stages is the time that they add to the pipeline.
inline constexpr std::array kModelledParts = {TimePart::kTp, TimePart::kCp, TimePart::kPp,
                                              TimePart::kDp, TimePart::kStraggler};
inline constexpr std::array kSimulatedParts = {TimePart::kBubble};

// Seconds of one step by part, on the pipeline rank that ends last.
struct ComposedStep : TimeParts {
  using TimeParts::TimeParts;

  double step_s() const { return total_s(); }

  friend bool operator==(const ComposedStep&, const ComposedStep&) = default;
};

// Returns the composed step of `ranks`, one per pipeline rank. Requires a layout that CheckLayout()
// accepts. InvalidArgument where ranks or chunks are missing.
absl::StatusOr<ComposedStep> ComposeStep(const EstimateContext& context, const Layout& layout,
                                         const std::vector<MeasuredRank>& ranks);

}  // namespace meshwright::planner
