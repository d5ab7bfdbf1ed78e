// The spread of the next step time around its prediction, from the errors of a fit and from what
// was known of the spread before.
//
// The errors are taken as normal, their variance as unknown, and what was known of it as a scaled
// inverse chi-square distribution, which counts like errors of so many earlier rows. The next run
// then follows a t distribution: wide while rows are few, the rows' own spread once they are many.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// A spread that was known before the fit, and how many rows it counts for.
struct SpreadPrior {
  double sigma = 0.0;
  double rows = 0.0;
};

// The spread of estimates with these profiles. It counts for as many rows as it was fitted to, up
// to a number that a few dozen rows of one's own outweigh.
SpreadPrior SpreadPriorOf(const ClusterSpec& cluster, const FrameworkProfile& profile);

struct FitErrors {
  std::vector<double> errors;       // log(predicted / measured), by row
  size_t constants = 0;             // that were free in the fit
  double constants_variance = 0.0;  // what their uncertainty adds to a row's, the mean
  double error_sigma = 0.0;         // of one row, by which the fit weighed rows and priors
};

// Standard deviation of the logarithm that puts 80 % of the next runs within kEightyPercentSigmas.
// Where no more rows than constants were fitted it is at least the prior's: so many constants meet
// so few rows whatever the spread is. Without a prior the rows alone say it, and few rows say
// little. Requires errors.
double PredictiveSigma(const FitErrors& fit, const std::optional<SpreadPrior>& prior);

// The value that a share of `values` lie at or below. Requires values.
double Quantile(std::vector<double> values, double share);

}  // namespace meshwright::planner
