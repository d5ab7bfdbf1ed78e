// DecideStop() decides when a trial has run enough steps. All functions here are pure.
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
  kMostTime  // the timed steps have taken the longest time allowed
};

inline constexpr EnumNames<StopReason, 5> kStopReasonNames = {{
    {StopReason::kNone, ""},
    {StopReason::kSteps, "steps"},
    {StopReason::kTight, "tight"},
    {StopReason::kBeaten, "beaten"},
    {StopReason::kMostTime, "most_time"},
}};

// A distribution-free confidence interval of the median with a probability of at least 95 %. Its
// bounds are two order statistics that leave equally many times outside on each side.
struct MedianInterval {
  double low_s = 0.0;
  double high_s = 0.0;

  friend bool operator==(const MedianInterval&, const MedianInterval&) = default;
};

// Returns the interval, or nullopt for fewer than 6 times, whose widest interval has a probability
// below 95 %.
std::optional<MedianInterval> MedianConfidence(std::vector<double> times_s);

// Returns the standard deviation of the median's logarithm, under the assumption that the
// logarithms of the bounds are the 95 % interval of a normal distribution. REQUIRES: both bounds
// are above 0.
double LogDeviationOf(const MedianInterval& interval);

// Returns the first of `steps` steps whose time counts. Step 0 counts only if it is the only step,
// since it touches every memory page for the first time.
int32_t FirstTimedStep(int32_t steps);

// Most steps of a trial whose request states no number of steps.
inline constexpr int32_t kMostAdaptiveSteps = 50;

struct StopOptions {
  int32_t steps = 5;        // exact count, or maximum if adaptive
  bool adaptive = false;    // whether fewer steps may suffice
  double tight = 0.01;      // interval width relative to the median that is precise enough
  double most_s = 60.0;     // limit on the sum of timed steps
  int32_t least_timed = 3;  // most_s applies only after this many timed steps
  std::optional<double> beat_step_s = std::nullopt;  // best median known so far
};

// Returns whether and why a trial stops after steps of these times, which include step 0.
StopReason DecideStop(const std::vector<double>& times_s, const StopOptions& options);

}  // namespace meshwright::trial
