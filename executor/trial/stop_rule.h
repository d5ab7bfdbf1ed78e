// Decides when a trial has run enough steps. Pure functions of the step times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/text/enum_names.h"

namespace meshwright::trial {

enum class StopReason : uint8_t {
  kNone,     // the trial goes on
  kSteps,    // the requested number of steps was run
  kTight,    // the median is known precisely enough
  kBeaten,   // the median is significantly above the best one known
  kMostTime  // out of time
};

inline constexpr EnumNames<StopReason, 5> kStopReasonNames = {{
    {StopReason::kNone, ""},
    {StopReason::kSteps, "steps"},
    {StopReason::kTight, "tight"},
    {StopReason::kBeaten, "beaten"},
    {StopReason::kMostTime, "most_time"},
}};

// A distribution-free confidence interval that covers the median with at least 95 %: two order
// statistics with equally many times outside on each side.
struct MedianInterval {
  double low_s = 0.0;
  double high_s = 0.0;

  friend bool operator==(const MedianInterval&, const MedianInterval&) = default;
};

// Returns nothing for fewer than 6 times, for which even the widest interval covers less.
std::optional<MedianInterval> MedianConfidence(std::vector<double> times_s);

// Returns the standard deviation of the median's logarithm, taking the interval as a normal
// distribution's 95 % interval. REQUIRES: times above 0.
double LogDeviationOf(const MedianInterval& interval);

// Returns the first step that counts. Step 0 touches every page for the first time, so it is not
// timed unless it is the only one.
int32_t FirstTimedStep(int32_t steps);

// The limit where nobody says how many steps a trial may run.
inline constexpr int32_t kMostAdaptiveSteps = 50;

struct StopOptions {
  int32_t steps = 5;        // exact count, or maximum if adaptive
  bool adaptive = false;    // whether fewer steps may do
  double tight = 0.01;      // interval width relative to the median that is precise enough
  double most_s = 60.0;     // limit on the sum of timed steps
  int32_t least_timed = 3;  // timed steps before most_s applies
  std::optional<double> beat_step_s = std::nullopt;  // best median known so far
};

// Decides after steps of these times, including the first one.
StopReason DecideStop(const std::vector<double>& times_s, const StopOptions& options);

}  // namespace meshwright::trial
