// Draws the convergence of a sweep, and the sweep's measurements against its predictions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "planner/drawing/picture_origin.h"
#include "planner/drawing/scatter_panel.h"

namespace meshwright::planner {

// A trial that has ended.
struct DrawnTrial {
  int32_t number = 0;
  std::optional<double> predicted_s;  // predicted step time, above 0
  std::optional<double> step_s;       // nullopt if no step was measured
  // The interval that contains the true median step with a probability of 95 %, and the interval
  // that contains the true step with 80 % according to the prediction; seconds, above 0.
  std::optional<Spread> step_spread = {};
  std::optional<Spread> predicted_spread = {};
  std::string state;
};

// Returns one line of plain text for each trial, in order. A line has the measured (*) and the
// predicted (o) step on an axis, and the best step so far. Returns no lines if fewer than two
// trials were measured.
std::vector<std::string> SweepLines(absl::Span<const DrawnTrial> trials);

// Draws two panels: the measured steps in the order of the trials with the best so far, and the
// predicted against the measured steps, each with its interval. `title` names the sweep.
std::string SweepSvg(std::string_view title, absl::Span<const DrawnTrial> trials,
                     const PictureOrigin& origin);

}  // namespace meshwright::planner
