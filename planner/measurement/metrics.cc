#include "planner/measurement/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace meshwright::planner {
namespace {

// Rank of each value, from 1; equal values share the mean of their ranks.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    // Ranks first + 1 to end.
    const double rank = (static_cast<double>(first) + static_cast<double>(end) + 1.0) / 2.0;
    for (; first < end; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

std::optional<double> Correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double mean_x = *Mean(x);
  const double mean_y = *Mean(y);
  double xy = 0.0;
  double xx = 0.0;
  double yy = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  if (xx == 0.0 || yy == 0.0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

}  // namespace

std::optional<double> Mean(absl::Span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2.0;
}

std::vector<double> RelativeErrors(absl::Span<const PredictedMeasured> pairs) {
  std::vector<double> errors;
  errors.reserve(pairs.size());
  for (const auto& [predicted, measured] : pairs) {
    errors.push_back(std::abs(predicted / measured - 1.0));
  }
  return errors;
}

std::vector<double> AbsoluteErrors(absl::Span<const PredictedMeasured> pairs) {
  std::vector<double> errors;
  errors.reserve(pairs.size());
  for (const auto& [predicted, measured] : pairs) errors.push_back(std::abs(predicted - measured));
  return errors;
}

std::optional<double> Spearman(absl::Span<const PredictedMeasured> pairs) {
  if (pairs.size() < 3) return std::nullopt;
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const PredictedMeasured& pair : pairs) {
    predicted.push_back(pair.predicted);
    measured.push_back(pair.measured);
  }
  return Correlation(Ranks(predicted), Ranks(measured));
}

std::optional<double> Accuracy(absl::Span<const Forecast> forecasts) {
  if (forecasts.empty()) return std::nullopt;
  const auto right = std::count_if(forecasts.begin(), forecasts.end(), [](const Forecast& f) {
    return (f.probability >= 0.5) == f.happened;
  });
  return static_cast<double>(right) / static_cast<double>(forecasts.size());
}

std::optional<double> AreaUnderCurve(absl::Span<const Forecast> forecasts) {
  std::vector<double> probabilities;
  for (const Forecast& forecast : forecasts) probabilities.push_back(forecast.probability);
  const std::vector<double> ranks = Ranks(probabilities);
  double events = 0.0;
  double rank_sum = 0.0;
  for (size_t i = 0; i < forecasts.size(); ++i) {
    if (!forecasts[i].happened) continue;
    events += 1.0;
    rank_sum += ranks[i];
  }
  const double others = static_cast<double>(forecasts.size()) - events;
  if (events == 0.0 || others == 0.0) return std::nullopt;
  // Mann-Whitney: the rank sum of the events beyond its least value counts the pairs in order.
  return (rank_sum - events * (events + 1.0) / 2.0) / (events * others);
}

}  // namespace meshwright::planner
