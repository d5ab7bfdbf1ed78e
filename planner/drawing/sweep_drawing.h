// Draws how a sweep converged, and its measurements against its predictions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace meshwright::planner {

// A trial that has ended.
struct DrawnTrial {
  int32_t number = 0;
  std::optional<double> predicted_s;  // step time in seconds, above 0
  std::optional<double> step_s;       // nullopt where none was measured
  std::string state;
};

// Returns a line of plain text for each trial, in order: its measured (*) and predicted (o) step on
// one axis, and the best so far. Empty where fewer than two were measured.
std::vector<std::string> SweepLines(absl::Span<const DrawnTrial> trials);

// Draws two panels: measured steps in the order of the trials with the best so far, and predicted
// against measured. `title` names the sweep.
std::string SweepSvg(std::string_view title, absl::Span<const DrawnTrial> trials);

}  // namespace meshwright::planner
