// The answer of `meshwright fastest`: the shortest time in which a model can be trained on a
// cluster, with any number of its devices, and the effect of layered gradient accumulation on it.
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
  double overlap = 1.0;  // as in ShortestRequest
};

// Thresholds for the claims of the abstract of Lamy-Poirier (arXiv 2106.02679) about the layered
// strategy: "about half", "fast" and "small" are chosen here.
inline constexpr double kAboutHalf = 0.6;
// Per device, one way: 400 Gb/s for a node of eight.
inline constexpr double kSlowBytesPerS = 6.25e9;
inline constexpr double kSmallShareOfMemory = 0.25;

struct Claim {
  std::string name;  // "half_the_time"
  std::string text;  // in words
  Verdict verdict = Verdict::kOpen;
  std::string sentence = {};  // the verdict with its numbers
};

struct FastestAnswer {
  std::vector<ShortestRun> strategies;  // in the order of kStrategyNames
  std::vector<Claim> claims;
  int64_t device_bytes = 0;          // memory of a device
  double network_bytes_per_s = 0.0;  // per device between nodes, one way
  std::vector<std::string> notes;
  int64_t parameters = 0;  // of the model
  RestsOn rests_on;

  bool any_fits() const;
  // The shortest run over all strategies; null where nothing fits.
  const ShortestRun* Shortest() const;
};

// InvalidArgument where a field is out of range.
absl::StatusOr<FastestAnswer> AnswerFastest(const FastestQuery& query, int32_t host_cores,
                                            SearchRun run = {},
                                            const ShortestProgress& progress = {});

}  // namespace meshwright::planner
