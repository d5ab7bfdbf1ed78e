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
  kMostTime  // the timed steps have taken the longest time allowed
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

// Returns nullopt for fewer than 6 times, since even their widest interval would cover the median
// with less than 95 %.
std::optional<MedianInterval> MedianConfidence(std::vector<double> times_s);

// Returns the standard deviation of the median's logarithm. Takes the logarithms of the interval's
// bounds as the 95 % interval of a normal distribution. REQUIRES: both bounds are above 0.
double LogDeviationOf(const MedianInterval& interval);

// Returns the first of `steps` steps that counts. Step 0 touches every page for the first time, so
// it is not timed unless it is the only step.
int32_t FirstTimedStep(int32_t steps);

// Most steps of a trial if nobody says how many steps it may run.
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
