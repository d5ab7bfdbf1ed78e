// How long the ranks of a trial may be silent, and their communication may take.
#pragma once

#include <chrono>

#include "absl/status/status.h"

namespace meshwright::trial {

inline constexpr double kMostTimeoutS = 7 * 24 * 3600.0;

// InvalidArgument about timeout_s unless it is above 0 and at most kMostTimeoutS.
absl::Status CheckTimeout(double timeout_s);

// For one operation among ranks. Longer than the longest silence: who runs the ranks notices a hang
// first, and says which rank it was.
std::chrono::milliseconds OperationTimeout(double timeout_s);

}  // namespace meshwright::trial
