// How sure it is that layouts of a sweep fit, once some of them ran.
//
// A layout runs out of memory where its predicted excess and the error of that, which has mean 0
// and deviation 1, are above 0 together. A share of the error's variance is common to all layouts
// of a sweep: one that ran out makes those that need as much or more less likely to fit, and one
// that fits those that need as much or less more likely.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace meshwright::planner {

struct FitFinding {
  size_t layout = 0;  // place among the probabilities
  bool fits = false;
};

// Probabilities of running out of memory, given those before any run and what ran. `common_share`:
// 0 to below 1.
std::vector<double> OomProbabilitiesGiven(absl::Span<const double> before,
                                          absl::Span<const FitFinding> findings,
                                          double common_share);

}  // namespace meshwright::planner
