// Draws predictions against measurements as a self-contained SVG file that follows the reader's
// light or dark setting.
//
// The step time is on the left, the peak memory on the right, both with logarithmic axes, the line
// of perfect agreement and a band of 10 % around it. Above the memory panel a strip places every
// run by the share of its device that the estimate fills: a cross where it ran out of memory, a dot
// where it succeeded.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "planner/measurement/row_prediction.h"

namespace meshwright::planner {

// The eight sweeps with the most rows have a colour each; the others share a grey.
std::string ScatterSvg(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner
