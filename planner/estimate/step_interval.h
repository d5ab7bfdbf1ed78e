// Estimates how far a measured step time may lie from the predicted one. The estimate rests on the
// runs that the presets were fitted to.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/containers/enum_set.h"
#include "planner/correction/error_sigma.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The standard deviation of log(measured / predicted) if a cluster's constants come from a data
// sheet and were not fitted. The root mean square of these errors over the runs of the five fitted
// clusters, with equal weight for each cluster, is 0.194 (tools/prior_errors).
inline constexpr double kDataSheetSigma = 0.2;

// A fit to this many rows halves the data sheet's error. The value is about the number of fitted
// constants.
inline constexpr int64_t kRowsThatHalve = 7;

// Returns the share of the data sheet's error that is left after a fit to `rows` measured steps:
// kRowsThatHalve / (kRowsThatHalve + rows), by credibility weighting (Buehlmann 1967).
double ShareLeftOpen(int64_t rows);

// Returns whether the spread of measured around predicted steps is taken from the cluster's runs
// rather than from the framework's. There are two such cases. In the first case, the framework was
// not fitted. In the second case, the cluster's spread is larger and its fit continued an earlier
// fit (prior_rows): runs on this very cluster refined the fit. The spread of a first fit also
// reflects the framework whose runs were fitted, so it does not count for another framework.
bool SpreadIsOfCluster(const ClusterSpec& cluster, const FrameworkProfile& profile);

// Returns the standard deviation of log(measured / predicted) over the runs that
// SpreadIsOfCluster() picks.
double FittedSpread(const ClusterSpec& cluster, const FrameworkProfile& profile);

inline constexpr int64_t kNarrowHidden = 1024;

// Properties of a step that no fit has seen. They widen the step's interval.
enum class Unfitted : uint8_t {
  // Recurrences, and attention to keys that an index picks or that are compressed. The efficiency
  // of these layers' kernels is chosen, not measured.
  kLayers,
  // Several residual streams, per-layer inputs, convolutions of queries and keys, and attention
  // scores with a learned term for the distance.
  kTerms,
  kExperts,
  // A hidden state of at most kNarrowHidden. The device finishes a layer before the host has issued
  // the next one, so the host's speed determines the step time.
  kNarrow,
  kFrozenWeights,  // frozen weights or adapters
  kNumberFormat,   // fp64, and fp32 on other devices than a processor's cores
  kOptions         // options of the run (planner/spec/run_options.h) that change its step
};

struct UnfittedPart {
  // The standard deviation of log(measured / predicted) that the property adds.
  double sigma = 0.0;
  std::string_view reason;  // continues "the interval is wider: "
};

// Returns the standard deviation that the property adds, and the reason.
const UnfittedPart& UnfittedPartOf(Unfitted unfitted);

// Returns the properties of a step that no fit has seen.
EnumSet<Unfitted> UnfittedOf(const ModelSpec& model, const TrainingSpec& training, DeviceKind kind);

// How near an estimated run is to the runs that its presets were fitted to, from near to far. Runs
// of one source scatter around their fit; runs of different sources differ by more than that.
enum class EvidenceLevel : uint8_t {
  // The run is a published row of a source of the fit, or its cluster was fitted to the user's own
  // runs.
  kFittedSource,
  kFrameworkAndChip,  // runs of others with this framework, and runs of others on this device
  kFramework,         // runs of others with this framework on other devices
  kChip,              // runs of others on this device with other frameworks
  kNeither
};

inline constexpr EnumNames<EvidenceLevel, 5> kEvidenceLevelNames = {{
    {EvidenceLevel::kFittedSource, "fitted_source"},
    {EvidenceLevel::kFrameworkAndChip, "framework_and_chip"},
    {EvidenceLevel::kFramework, "framework"},
    {EvidenceLevel::kChip, "chip"},
    {EvidenceLevel::kNeither, "neither"},
}};
std::string_view EvidenceLevelName(EvidenceLevel level);

// Returns the level of a run that no fit has seen. The level is kFittedSource only if the cluster's
// fit continued an earlier fit with runs of the cluster's owner.
EvidenceLevel LevelOf(const ClusterSpec& cluster, const FrameworkProfile& profile);

// Returns the standard deviation of log(measured / predicted) of a step that no fit has seen. It is
// the root of the sum of the squares of two independent errors: FittedSpread(), and the part of the
// data sheet's error that remains after the fit. All of that error is left if parts of the cluster
// are unmeasured. If the cluster was never fitted, the two errors are the framework's spread and
// the cluster's assumed spread. The errors of `unfitted` are added in the same way.
double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile,
                     const EnumSet<Unfitted>& unfitted = {});

// 80 % of a normal distribution lie within this many standard deviations of its mean.
inline constexpr double kEightyPercentSigmas = 1.2816;

// Returns a factor of at least 1. The step times of 80 % of runs lie between the predicted time
// divided by this factor and the predicted time multiplied by it. Without `unfitted` the factor
// applies to comparisons between layouts of one model on one cluster, because the errors of
// `unfitted` are alike in all of them.
double StepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const EnumSet<Unfitted>& unfitted = {});

// Returns the error of log(measured / predicted) of a step. It combines two independent errors:
// StepTimeSigma(), and the difference between sources at the level. This difference is chosen so
// that intervals hold 80 % of published rows whose file took no part in any fit (docs/accuracy.md).
ErrorSigma StepErrorAt(EvidenceLevel level, const ClusterSpec& cluster,
                       const FrameworkProfile& profile, const EnumSet<Unfitted>& unfitted);

// The interval that holds the step times of 80 % of runs, as factors of the predicted step. It is
// wider on the slow side, as published errors are.
struct StepInterval {
  double low = 1.0;   // at most 1
  double high = 1.0;  // at least 1
};

// Returns the interval of StepErrorAt().
StepInterval StepIntervalOf(const ClusterSpec& cluster, const FrameworkProfile& profile,
                            const EnumSet<Unfitted>& unfitted, EvidenceLevel level);

}  // namespace meshwright::planner
