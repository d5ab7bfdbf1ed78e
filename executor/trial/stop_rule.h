// When a trial has run enough steps. Pure functions of the steps' times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/text/enum_names.h"

namespace meshwright::trial {

enum class StopReason : uint8_t {
  kNone,     // it goes on
  kSteps,    // the steps that were asked for
  kTight,    // the median is known well enough
  kBeaten,   // the median is beyond doubt above the best one known
  kMostTime  // no time left
};

inline constexpr EnumNames<StopReason, 5> kStopReasonNames = {{
    {StopReason::kNone, ""},
    {StopReason::kSteps, "steps"},
    {StopReason::kTight, "tight"},
    {StopReason::kBeaten, "beaten"},
    {StopReason::kMostTime, "most_time"},
}};

// Holds the median of what was drawn from with a probability of at least 95 %, whatever the
// distribution: two order statistics with as many times outside on either side.
struct MedianInterval {
  double low_s = 0.0;
  double high_s = 0.0;

  friend bool operator==(const MedianInterval&, const MedianInterval&) = default;
};

// Nothing for fewer than 6 times: even the widest interval holds the median less often.
std::optional<MedianInterval> MedianConfidence(std::vector<double> times_s);

// Standard deviation of the median's logarithm, as the interval is a normal's with 95 %. Requires
// times above 0.
double LogDeviationOf(const MedianInterval& interval);

// The first step touches every page for the first time: it is not timed unless it is the only one.
int32_t FirstTimedStep(int32_t steps);

// Where nobody says how many steps a trial may run.
inline constexpr int32_t kMostAdaptiveSteps = 50;

struct StopOptions {
  int32_t steps = 5;        // exactly so many, or at most where it is adaptive
  bool adaptive = false;    // whether fewer will do
  double tight = 0.01;      // width of the interval over the median that is narrow enough
  double most_s = 60.0;     // of timed steps
  int32_t least_timed = 3;  // steps before the time counts
  std::optional<double> beat_step_s = std::nullopt;  // best median known so far
};

// What to do after steps of these times, the first one included.
StopReason DecideStop(const std::vector<double>& times_s, const StopOptions& options);

}  // namespace meshwright::trial
