// Statistics of predictions against measurements: pure functions of numbers.
//
// Each returns nullopt where the figure does not exist (no values, one class only, no spread), so
// that a report can leave it open instead of printing a zero.
#pragma once

#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace meshwright::planner {

struct PredictedMeasured {
  double predicted = 0.0;
  double measured = 0.0;
};

std::optional<double> Mean(absl::Span<const double> values);
// Of an even number of values the mean of the middle two.
std::optional<double> Median(std::vector<double> values);

// |predicted / measured - 1| of each pair, a fraction. Requires measured > 0.
std::vector<double> RelativeErrors(absl::Span<const PredictedMeasured> pairs);
// |predicted - measured| of each pair.
std::vector<double> AbsoluteErrors(absl::Span<const PredictedMeasured> pairs);

// Spearman's rank correlation, -1 to 1; ties share the mean of their ranks. nullopt below three
// pairs and where either side is constant.
std::optional<double> Spearman(absl::Span<const PredictedMeasured> pairs);

// A probability of an event and whether it happened.
struct Forecast {
  double probability = 0.0;
  bool happened = false;
};

// Share of forecasts on the right side of 0.5, which itself counts as yes.
std::optional<double> Accuracy(absl::Span<const Forecast> forecasts);
// Area under the ROC curve: how often an event has a higher probability than a non-event, ties
// counting half. nullopt unless both exist.
std::optional<double> AreaUnderCurve(absl::Span<const Forecast> forecasts);

}  // namespace meshwright::planner
