// Models the probability that a sweep's layouts run out of memory, given which of them fitted so
// far.
//
// A layout runs out of memory if its predicted excess of memory plus an error is above 0. Excess
// and error are in units of the error's standard deviation; the error has mean 0. All layouts of a
// sweep share a part of the error's variance. A layout that ran out of memory therefore makes the
// others less likely to fit, and a layout that fits makes them more likely to fit.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace meshwright::planner {

struct FitFinding {
  size_t layout = 0;  // index among the probabilities
  bool fits = false;
};

// Returns each layout's probability of running out of memory given `findings`. `before` holds the
// probabilities before any run. `common_share` is the share of the error's variance that all
// layouts have in common, from 0 to below 1.
std::vector<double> OomProbabilitiesGiven(absl::Span<const double> before,
                                          absl::Span<const FitFinding> findings,
                                          double common_share);

}  // namespace meshwright::planner
