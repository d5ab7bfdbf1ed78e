// Computes statistics of predictions against measurements. All functions are pure.
//
// A figure does not exist if there are no values, only one class, or no spread. The function then
// returns nullopt, so that a report can leave out the figure instead of printing a zero.
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
// Returns the median; for an even number of values, the mean of the middle two.
std::optional<double> Median(std::vector<double> values);

// Returns |predicted / measured - 1| of each pair, a fraction. REQUIRES: measured > 0.
std::vector<double> RelativeErrors(absl::Span<const PredictedMeasured> pairs);
// Returns |predicted - measured| of each pair.
std::vector<double> AbsoluteErrors(absl::Span<const PredictedMeasured> pairs);

// Returns Spearman's rank correlation, from -1 to 1; ties share the mean of their ranks. Returns
// nullopt if there are fewer than three pairs or either side is constant.
std::optional<double> Spearman(absl::Span<const PredictedMeasured> pairs);

// A probability of an event and whether it happened.
struct Forecast {
  double probability = 0.0;
  bool happened = false;
};

// Returns the share of forecasts on the right side of 0.5. A probability of 0.5 forecasts the
// event.
std::optional<double> Accuracy(absl::Span<const Forecast> forecasts);
// Returns the area under the ROC curve: the share of pairs in which an event has a higher
// probability than a non-event. Ties count half. Returns nullopt unless there are both events and
// non-events.
std::optional<double> AreaUnderCurve(absl::Span<const Forecast> forecasts);

}  // namespace meshwright::planner
