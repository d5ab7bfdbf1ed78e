// Draws predictions against measurements as a self-contained SVG file that follows the reader's
// light or dark setting.
//
// The left panel shows step times, the right one peak memory. Both have logarithmic axes, the line
// of perfect agreement and a band of 10 % around it. The strip above the memory panel places each
// run by the share of its device's memory that the estimate fills. A cross is a run that went out
// of memory, a dot one that succeeded.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "planner/drawing/picture_origin.h"
#include "planner/measurement/row_prediction.h"

namespace meshwright::planner {

// Each of the eight sweeps with the most rows has its own colour; the others share a grey.
std::string ScatterSvg(absl::Span<const RowPrediction> rows, const PictureOrigin& origin);

}  // namespace meshwright::planner
