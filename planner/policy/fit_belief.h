// Models the probability that a sweep's layouts run out of memory, given which of them fitted so
// far.
//
// A layout runs out of memory where its predicted excess plus an error of mean 0 and deviation 1 is
// above 0. All layouts of a sweep share a part of the error's variance, so a layout that ran out
// makes those that need as much or more less likely to fit, and a layout that fits makes those that
// need as much or less more likely to fit.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace meshwright::planner {

struct FitFinding {
  size_t layout = 0;  // index among the probabilities
  bool fits = false;
};

// Returns the probabilities of running out of memory given `findings`, where `before` are those
// before any run. `common_share` is the share of the error's variance that layouts have in common,
// from 0 to below 1.
std::vector<double> OomProbabilitiesGiven(absl::Span<const double> before,
                                          absl::Span<const FitFinding> findings,
                                          double common_share);

}  // namespace meshwright::planner
