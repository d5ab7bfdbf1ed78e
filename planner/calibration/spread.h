// Computes the spread of the next step time around its prediction, from the errors of a fit and
// from the spread known before.
//
// The errors are taken to be normal with an unknown variance. The variance has a scaled inverse
// chi-square prior, which counts as the errors of a number of earlier rows. The error of the next
// run then follows a t distribution. This distribution is wide if there are few rows, and has the
// rows' own spread if there are many.
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

// Returns the spread of estimates with this cluster and profile. The weight of the spread is the
// number of rows that it was fitted to. A limit on this weight lets a few dozen new rows outweigh
// it.
SpreadPrior SpreadPriorOf(const ClusterSpec& cluster, const FrameworkProfile& profile);

struct FitErrors {
  std::vector<double> errors;  // log(predicted / measured), by row
  size_t constants = 0;        // number of constants that the fit chose
  // The variance of a row's error that comes from the constants' uncertainty, averaged over the
  // rows.
  double constants_variance = 0.0;
  double error_sigma = 0.0;  // standard deviation that the fit assumed for a row's error
};

// Returns the standard deviation of ln(step time), chosen so that 80 % of the next runs lie within
// kEightyPercentSigmas standard deviations of the prediction. If there are no more rows than
// constants, the result is at least the prior's, because so many constants can fit so few rows
// exactly. Without a prior, the rows alone determine the result, which is unreliable if there are
// few rows. REQUIRES: `fit.errors` is not empty.
double PredictiveSigma(const FitErrors& fit, const std::optional<SpreadPrior>& prior);

// Returns the standard deviation of the errors, computed from the 80 % quantile of their absolute
// values, which a single bad run does not change. REQUIRES: `errors` is not empty.
double Scatter(const std::vector<double>& errors);

// Returns the quantile of `values` at `share`. REQUIRES: `values` is not empty.
double Quantile(std::vector<double> values, double share);

}  // namespace meshwright::planner
