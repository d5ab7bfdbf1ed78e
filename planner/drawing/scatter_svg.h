// A picture of predictions against measurements, as the text of an SVG file.
//
// Left the step time, right the peak memory, both with logarithmic axes, the line of perfect
// agreement and a band of 10 % around it. Above the memory panel a strip places every run by the
// share of its device that the estimate fills: a cross where it ran out of memory, a dot where it
// went through. The file needs nothing beside it and follows the reader's light or dark setting.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "planner/measurement/row_prediction.h"

namespace meshwright::planner {

// The eight sweeps with most rows have a colour each, the others share a grey.
std::string ScatterSvg(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner
