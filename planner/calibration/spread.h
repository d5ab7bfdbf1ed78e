// Computes the spread of the next step time around its prediction, from the errors of a fit and
// from the spread known before.
//
// The errors are normal with an unknown variance, whose prior is a scaled inverse chi-square
// distribution that counts as the errors of a number of earlier rows. The next run then follows a t
// distribution: wide while rows are few, with the rows' own spread once they are many.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// A spread known before the fit, and the number of rows it counts for.
struct SpreadPrior {
  double sigma = 0.0;
  double rows = 0.0;
};

// Returns the spread of estimates with these profiles. It counts for as many rows as it was fitted
// to, up to a number that a few dozen new rows outweigh.
SpreadPrior SpreadPriorOf(const ClusterSpec& cluster, const FrameworkProfile& profile);

struct FitErrors {
  std::vector<double> errors;       // log(predicted / measured), by row
  size_t constants = 0;             // free in the fit
  double constants_variance = 0.0;  // what their uncertainty adds to a row's variance, on average
  double error_sigma = 0.0;         // of one row, by which the fit weighed rows against priors
};

// Returns the standard deviation of the logarithm that puts 80 % of the next runs within
// kEightyPercentSigmas. Where no more rows than constants were fitted it is at least the prior's:
// as many constants fit so few rows whatever the spread is. Without a prior the rows alone decide,
// and few rows say little. Requires errors.
double PredictiveSigma(const FitErrors& fit, const std::optional<SpreadPrior>& prior);

// Returns the quantile of `values` at `share`. Requires values.
double Quantile(std::vector<double> values, double share);

}  // namespace meshwright::planner
