// CheckTimeout() and OperationTimeout() set the limits on the silence of a trial's ranks and on
// their communication.
#pragma once

#include <chrono>

#include "absl/status/status.h"

namespace meshwright::trial {

inline constexpr double kMostTimeoutS = 7 * 24 * 3600.0;

// Returns InvalidArgument for timeout_s unless it is above 0 and at most kMostTimeoutS.
absl::Status CheckTimeout(double timeout_s);

// Returns the timeout of one operation between ranks. It exceeds the longest allowed silence, so
// that the runner notices a hang first and can name the rank.
std::chrono::milliseconds OperationTimeout(double timeout_s);

}  // namespace meshwright::trial
