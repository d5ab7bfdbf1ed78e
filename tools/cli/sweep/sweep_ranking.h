// RankSteps() ranks measured steps and takes the spread of their times into account.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/trial/stop_rule.h"

namespace meshwright::cli {

// A median step and its 95 % interval. If too few steps were timed, the interval is nullopt and the
// median counts as exact.
struct StepSpread {
  double step_s = 0.0;
  std::optional<trial::MedianInterval> interval;

  double low_s() const { return interval ? interval->low_s : step_s; }
  double high_s() const { return interval ? interval->high_s : step_s; }
};

// Returns whether the intervals of `a` and `b` overlap, so that it is undecided which is faster.
bool NotToldApart(const StepSpread& a, const StepSpread& b);

struct StepRank {
  int32_t rank = 1;     // one more than the number of steps that are certainly shorter
  bool shared = false;  // its interval overlaps another step's

  friend bool operator==(const StepRank&, const StepRank&) = default;
};

// Returns one rank per step, in their order.
std::vector<StepRank> RankSteps(const std::vector<StepSpread>& steps);

}  // namespace meshwright::cli
