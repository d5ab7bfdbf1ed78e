#include "executor/trial/stop_rule.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "planner/measurement/metrics.h"

namespace meshwright::trial {
namespace {

// Probability of missing the median on each side.
constexpr double kMiss = 0.025;

// Returns how many times may lie outside the interval on each side, plus one: the largest k for
// which k - 1 or fewer of n fair coins show heads with a probability of at most kMiss. 0 if
// there is none.
size_t RankOfBound(size_t n) {
  double probability = 1.0;  // of exactly k heads
  for (size_t i = 0; i < n; ++i) probability /= 2.0;
  double at_most = 0.0;
  size_t k = 0;
  while (k < n) {
    at_most += probability;
    if (at_most > kMiss) break;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

}  // namespace

std::optional<MedianInterval> MedianConfidence(std::vector<double> times_s) {
  // 2^-n underflows a double soon after n = 1000, and that many steps need no exact interval.
  constexpr size_t kMost = 1000;
  if (times_s.size() > kMost) times_s.erase(times_s.begin(), times_s.end() - kMost);
  const size_t rank = RankOfBound(times_s.size());
  if (rank == 0) return std::nullopt;
  std::sort(times_s.begin(), times_s.end());
  return MedianInterval{.low_s = times_s[rank - 1], .high_s = times_s[times_s.size() - rank]};
}

double LogDeviationOf(const MedianInterval& interval) {
  // Width of a normal distribution's 95 % interval, in standard deviations.
  constexpr double kWidth = 2.0 * 1.959964;
  return std::log(interval.high_s / interval.low_s) / kWidth;
}

int32_t FirstTimedStep(int32_t steps) { return steps > 1 ? 1 : 0; }

StopReason DecideStop(const std::vector<double>& times_s, const StopOptions& options) {
  const auto steps = static_cast<int32_t>(times_s.size());
  if (steps >= options.steps) return StopReason::kSteps;
  if (!options.adaptive || steps == 0) return StopReason::kNone;
  const std::vector<double> timed_s(times_s.begin() + FirstTimedStep(steps), times_s.end());
  if (const auto interval = MedianConfidence(timed_s)) {
    const double median_s = planner::Median(timed_s).value_or(0.0);
    if (interval->high_s - interval->low_s <= options.tight * median_s) return StopReason::kTight;
    if (options.beat_step_s && interval->low_s > *options.beat_step_s) return StopReason::kBeaten;
  }
  const double spent_s = std::accumulate(timed_s.begin(), timed_s.end(), 0.0);
  const bool enough = static_cast<int32_t>(timed_s.size()) >= options.least_timed;
  return enough && spent_s >= options.most_s ? StopReason::kMostTime : StopReason::kNone;
}

}  // namespace meshwright::trial
