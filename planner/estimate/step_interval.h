// Estimates how far a measured step time may lie from the predicted one. The estimate rests on the
// runs that the presets were fitted to.
#pragma once

#include <cstdint>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/trained_parts.h"

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

// The same for layers whose kernels no fit has seen. Over the 32 published rows of Nemotron 3 Nano
// and Super (nvidia_nemo_perf; docs/accuracy.md) the root mean square, with each model having the
// same weight, is 0.52.
inline constexpr double kUnfittedLayersSigma = 0.5;

// Returns whether the model has layers whose kernels no fit has seen: recurrences, and attention to
// keys that an index picks or that are compressed. The efficiency of these kernels is chosen.
bool HasUnfittedLayers(const ModelSpec& model);

// The same for runs that freeze weights or train adapters, which no fit has seen. Over the three
// published rows of LoRA in bf16 (nvidia_dgxc, Llama 3 8B and 70B, planned as lora:16, as they
// don't say their rank) the root mean square is 0.19, with each model having the same weight.
inline constexpr double kFrozenWeightsSigma = 0.2;

// Returns the standard deviation of log(measured / predicted) of a step that no fit has seen. It
// adds two independent errors: FittedSpread() and what is left of the data sheet's error. If the
// cluster was never fitted, it adds the framework's spread and the cluster's assumed one. For a
// model that HasUnfittedLayers() it adds kUnfittedLayersSigma, and for a run that does not train
// all weights kFrozenWeightsSigma.
double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile,
                     const ModelSpec& model, const TrainedParts& parts = {});

// 80 % of a normal distribution lie within this many standard deviations of its mean.
inline constexpr double kEightyPercentSigmas = 1.2816;

// Returns a factor of at least 1. The step time of 80 % of runs lies within this factor of the
// predicted one, above or below.
double StepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const ModelSpec& model, const TrainedParts& parts = {});

// Returns the same for comparing layouts of one model, whose unfitted layers err alike.
double ComparedStepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile);

}  // namespace meshwright::planner
