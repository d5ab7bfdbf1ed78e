// RelatedSweeps holds the results of other sweeps from which a sweep can learn, and the traits that
// tell how closely each of them relates to this sweep.
//
// The relation of two sweeps is exp(-distance). The distance is a sum of a constant for any two
// different sweeps, a term for the ratio of each size, and a term for each name and each run option
// that differs. Each term gives a valid covariance, and so does the product of all. The residual
// model's matrix is therefore a valid covariance for any set of sweeps (Rasmussen and Williams
// 2006, section 4.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/policy/trial_point.h"
#include "planner/spec/option_choice.h"

namespace meshwright::planner {

// The problem that a sweep runs. An unknown size is 1, and an unknown name is empty.
struct SweepTraits {
  int64_t hidden = 1;
  int64_t layers = 1;
  int64_t experts = 1;  // experts per layer; 1 if one FFN serves all tokens
  int64_t seq_len = 1;
  int64_t global_batch = 1;
  int64_t devices = 1;
  std::string device;     // the device's kind, as the cluster names it
  std::string cluster;    // the cluster whose constants the estimates use
  std::string framework;  // the profile that the estimates use
  std::string precision;
  OptionValues options = {};  // the run's options that differ from their defaults
};

// Returns the distance between two different sweeps.
double SweepDistance(const SweepTraits& a, const SweepTraits& b);

// A measured step time.
struct RelatedResult {
  TrialPoint point;       // PointOf() the measured layout
  double residual = 0.0;  // ln(measured / predicted)
  double step_s = 0.0;    // measured step time
  double noise = 0.0;     // MeasuredResidual::noise
};

struct RelatedSweep {
  std::string name;
  SweepTraits traits;
  std::vector<RelatedResult> results;
};

struct RelatedSweeps {
  SweepTraits own;  // traits of the sweep that learns from the others
  std::vector<RelatedSweep> sweeps;

  int64_t results() const;
};

// The most results that one related sweep contributes, and the most results that all related sweeps
// contribute together. A related sweep contributes its fastest results. The nearest sweep
// contributes first. The time to choose a trial grows with the cube of the number of results.
inline constexpr size_t kMostResultsOfARelative = 8;
inline constexpr size_t kMostRelatedResults = 64;

// Returns the sweeps that have results, within these limits. The nearest comes first; sweeps at the
// same distance keep their order.
RelatedSweeps NearestRelatedSweeps(const SweepTraits& own, std::vector<RelatedSweep> sweeps);

// Returns "12 results of 2 related sweeps, the nearest of which is NAME", or "" if there are none.
std::string Describe(const RelatedSweeps& relatives);

}  // namespace meshwright::planner
