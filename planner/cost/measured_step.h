// Composes the time of a step from measurements of single ranks, each run alone, and from the
// modelled time of their communication. Slice trials use it to predict from one device the step
// time of a cluster.
//
// Each pipeline rank's computation of one micro-batch and its optimizer are measured. Everything
// that takes more than one rank is modelled. The pipeline's schedule is simulated with the sums of
// measured and modelled times.
#pragma once

#include <array>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/cost/time_part.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Seconds of one micro-batch in one chunk. Compute is measured. tp, cp and dp are modelled; they
// count only the time that compute does not hide. A backward pass that is not split is in
// input_gradient, and weight_gradient is 0.
struct MeasuredChunk {
  TimeParts forward;
  TimeParts input_gradient;
  TimeParts weight_gradient;
};

struct MeasuredRank {
  std::vector<MeasuredChunk> chunks;  // one for each of the rank's vpp chunks
  // Modelled seconds of exposed reductions after the last action.
  double dp_behind_s = 0.0;
  double optimizer_s = 0.0;  // measured seconds of the optimizer
};

// The parts of a composed step that are measured.
inline constexpr std::array kMeasuredParts = {TimePart::kCompute, TimePart::kOptimizer};
// The parts that are modelled. kPp is the time that messages between stages add to the pipeline.
inline constexpr std::array kModelledParts = {TimePart::kTp, TimePart::kCp, TimePart::kPp,
                                              TimePart::kDp, TimePart::kStraggler};
// The parts that are simulated.
inline constexpr std::array kSimulatedParts = {TimePart::kBubble};

// Seconds of one step by part, on the pipeline rank that ends last.
struct ComposedStep : TimeParts {
  using TimeParts::TimeParts;

  double step_s() const { return total_s(); }

  friend bool operator==(const ComposedStep&, const ComposedStep&) = default;
};

// Returns the step composed of `ranks`, which has one entry for each pipeline rank. Returns
// InvalidArgument if the number of ranks or of chunks is not the layout's. REQUIRES: CheckLayout()
// accepts the layout.
absl::StatusOr<ComposedStep> ComposeStep(const EstimateContext& context, const Layout& layout,
                                         const std::vector<MeasuredRank>& ranks);

}  // namespace meshwright::planner
