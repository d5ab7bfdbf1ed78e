// Other sweeps whose results say something of this one's, and how much.
//
// How alike two sweeps are, their relation, is exp(-distance): a part for being another sweep at
// all, a part for each factor by which a size differs, and a part for each word that is another.
// Each of these gives a covariance, and so does their product: whatever sweeps come together, the
// residual model's matrix is one (Rasmussen and Williams 2006, section 4.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/policy/trial_point.h"

namespace meshwright::planner {

// What is trained in a sweep, and on what. A size that is not known is 1, a word empty.
struct SweepTraits {
  int64_t hidden = 1;
  int64_t layers = 1;
  int64_t experts = 1;  // of a layer; 1 where its FFN is one for all tokens
  int64_t seq_len = 1;
  int64_t global_batch = 1;
  int64_t devices = 1;
  std::string device;     // its kind, as the cluster names it
  std::string cluster;    // the constants that the estimates are made with
  std::string framework;  // likewise
  std::string precision;
};

// Of two different sweeps.
double SweepDistance(const SweepTraits& a, const SweepTraits& b);

// A step time that was measured.
struct RelatedResult {
  TrialPoint point;       // PointOf() its layout
  double residual = 0.0;  // ln(measured / predicted)
  double step_s = 0.0;    // measured
  double noise = 0.0;     // as in MeasuredResidual
};

struct RelatedSweep {
  std::string name;
  SweepTraits traits;
  std::vector<RelatedResult> results;
};

struct RelatedSweeps {
  SweepTraits own;  // of the sweep whose relatives they are
  std::vector<RelatedSweep> sweeps;

  int64_t results() const;
};

// Of a relative the fastest results count, which its trials would have been, and of all the results
// of the nearest sweeps: what a choice costs grows with the cube of their number.
inline constexpr size_t kMostResultsOfARelative = 8;
inline constexpr size_t kMostRelatedResults = 64;

// The nearest first, equals in their order, without those that have no results.
RelatedSweeps NearestRelatedSweeps(const SweepTraits& own, std::vector<RelatedSweep> sweeps);

// "12 results of 2 related sweeps, the nearest of which is NAME"; empty where there are none.
std::string Describe(const RelatedSweeps& relatives);

}  // namespace meshwright::planner
