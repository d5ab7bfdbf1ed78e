// Computes the answer of `meshwright fastest`: the shortest time in which a model can be trained on
// a cluster, with any number of its devices, and how layered gradient accumulation changes that
// time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/report/rests_on.h"
#include "planner/scaling/device_range.h"
#include "planner/scaling/shortest.h"
#include "planner/study/ablation.h"

namespace meshwright::planner {

struct FastestQuery {
  PlanQuery plan;  // its devices and batch are ignored
  DeviceRange devices;
  CriticalBatch critical;
  double overlap = 1.0;  // ShortestRequest::overlap
};

// The abstract of Lamy-Poirier (arXiv 2106.02679) makes claims about the layered strategy without
// giving thresholds. The following three thresholds, which decide whether a claim holds, are
// chosen.
//
// The largest share of the contiguous strategy's time that counts as about half.
inline constexpr double kAboutHalf = 0.6;
// A network between nodes counts as slow if its bandwidth per device, one way, is at most this many
// bytes per second. For a node of eight devices this is 400 Gb/s.
inline constexpr double kSlowBytesPerS = 6.25e9;
// The largest share of a device's memory that counts as small.
inline constexpr double kSmallShareOfMemory = 0.25;

struct Claim {
  std::string name;  // such as "half_the_time"
  std::string text;  // the claim in words
  Verdict verdict = Verdict::kOpen;
  std::string sentence = {};  // the verdict with its numbers
};

struct FastestAnswer {
  std::vector<ShortestRun> strategies;  // in the order of kStrategyNames
  std::vector<Claim> claims;
  int64_t device_bytes = 0;          // memory of a device
  double network_bytes_per_s = 0.0;  // bandwidth per device between nodes, one way
  std::vector<std::string> notes;
  int64_t parameters = 0;  // parameters of the model
  RestsOn rests_on;

  bool any_fits() const;
  // Returns the strategy whose shortest run is the shortest of all; null if nothing fits.
  const ShortestRun* Shortest() const;
};

// Returns InvalidArgument if a field of the query is out of range. Returns every error of Resolve()
// and ShortestRuns() as it is.
absl::StatusOr<FastestAnswer> AnswerFastest(const FastestQuery& query, int32_t host_cores,
                                            SearchRun run = {},
                                            const ShortestProgress& progress = {});

}  // namespace meshwright::planner
