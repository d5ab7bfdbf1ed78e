// Estimates how far a measured step time may lie from the predicted one. The estimate rests on the
// runs that the presets were fitted to.
#pragma once

#include <cstdint>
#include <string_view>

#include "planner/containers/enum_set.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The standard deviation of log(measured / predicted) if a cluster's constants come from a data
// sheet and were not fitted. Over the runs of the five fitted clusters, each cluster having the
// same weight, its root mean square is 0.194 (tools/prior_errors).
inline constexpr double kDataSheetSigma = 0.2;

// A fit to this many rows halves the data sheet's error. It is about the number of constants that
// are fitted.
inline constexpr int64_t kRowsThatHalve = 7;

// Returns the share of the data sheet's error that is left after a fit to `rows` measured steps. It
// is kRowsThatHalve / (kRowsThatHalve + rows), by credibility weighting (Buehlmann 1967).
double ShareLeftOpen(int64_t rows);

// Returns whether the spread of measured around predicted steps is taken from the cluster's runs
// rather than from the framework's. It is the cluster's if the framework was not fitted. It is also
// the cluster's if that spread is larger and the cluster's fit continued an earlier one
// (prior_rows), because runs on the very machines refined such a fit. The spread of a first fit is
// as much that of the framework whose runs were fitted, so it does not count for another framework.
bool SpreadIsOfCluster(const ClusterSpec& cluster, const FrameworkProfile& profile);

// Returns the standard deviation of log(measured / predicted) over the runs that
// SpreadIsOfCluster() picks.
double FittedSpread(const ClusterSpec& cluster, const FrameworkProfile& profile);

// What a step has that no fit has seen, so that its interval is wider.
enum class Unfitted : uint8_t {
  // Recurrences, and attention to keys that an index picks or that are compressed. The efficiency
  // of
  // their kernels is chosen.
  kLayers,
  kExperts,
  kFrozenWeights,  // or adapters
  kOptions         // options of the run (planner/spec/run_options.h) that change its step
};

struct UnfittedPart {
  // The standard deviation of log(measured / predicted) that the part adds.
  double sigma = 0.0;
  std::string_view reason;  // continues "the interval is wider: "
};

// Returns what the part adds.
const UnfittedPart& UnfittedPartOf(Unfitted unfitted);

// Returns what a step has that no fit has seen.
EnumSet<Unfitted> UnfittedOf(const ModelSpec& model, const TrainingSpec& training);

// Returns the standard deviation of log(measured / predicted) of a step that no fit has seen. It
// adds two independent errors: FittedSpread() and what is left of the data sheet's error. All of
// that error is left if parts of the cluster are unmeasured. If the cluster was never fitted, the
// framework's spread and the cluster's assumed one are added. Then it adds what UnfittedOf() names.
double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile,
                     const EnumSet<Unfitted>& unfitted = {});

// 80 % of a normal distribution lie within this many standard deviations of its mean.
inline constexpr double kEightyPercentSigmas = 1.2816;

// Returns a factor of at least 1. The step time of 80 % of runs lies within this factor of the
// predicted one, above or below. Without `unfitted` it is about layouts of one run, in which the
// parts that no fit has seen err alike.
double StepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const EnumSet<Unfitted>& unfitted = {});

}  // namespace meshwright::planner
