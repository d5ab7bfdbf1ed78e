// Measured steps in order, with what their spread leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/trial/stop_rule.h"

namespace meshwright::cli {

// A median step and where it lies with 95 %; nothing where too few steps were timed, which counts
// as if the median were known.
struct StepSpread {
  double step_s = 0.0;
  std::optional<trial::MedianInterval> interval;

  double low_s() const { return interval ? interval->low_s : step_s; }
  double high_s() const { return interval ? interval->high_s : step_s; }
};

// Whether their intervals overlap, so that which of them is faster was not decided.
bool NotToldApart(const StepSpread& a, const StepSpread& b);

struct StepRank {
  int32_t rank = 1;     // one more than there are steps that are beyond doubt shorter
  bool shared = false;  // not told apart from at least one other

  friend bool operator==(const StepRank&, const StepRank&) = default;
};

// One rank per step, in their order.
std::vector<StepRank> RankSteps(const std::vector<StepSpread>& steps);

}  // namespace meshwright::cli
