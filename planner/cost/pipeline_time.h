// Estimates the part of a step that does not depend on ZeRO: the micro-batches of a pipeline's
// ranks, its idle time and its messages, and the wait for the slowest device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planner/cost/stage_time.h"
#include "planner/cost/time_part.h"
#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"

namespace meshwright::planner {

// Seconds of one optimizer step by part, on the slowest device.
struct TimeEstimate : TimeParts {
  using TimeParts::TimeParts;

  double step_s() const { return total_s(); }

  friend bool operator==(const TimeEstimate&, const TimeEstimate&) = default;
};

// Times of a pipeline's ranks, one micro-batch each.
struct PipelineRanks {
  StageTime slowest;
  double slowest_s = 0.0;  // its total
  TimeParts sum;           // over all ranks
  double sum_s = 0.0;      // its total

  // Adds `ranks` ranks each of which takes `rank`, `rank_s` in total.
  void Add(const StageTime& rank, double rank_s, int32_t ranks) {
    sum.Add(rank.parts, ranks);
    sum_s += ranks * rank_s;
    if (rank_s <= slowest_s) return;
    slowest = rank;
    slowest_s = rank_s;
  }
};

// What a pipeline's time depends on in addition to its ranks.
struct PipelineLinks {
  double core_share = 1.0;        // the share of a device that a rank has (ThroughputShare())
  double hop_s = 0.0;             // of one activation to the next stage
  double straggler_factor = 1.0;  // StragglerFactor() of all devices
};

// Returns the time without the parts of data parallel, the optimizer and allocator pressure.
TimeEstimate PipelineTime(const FrameworkProfile& profile, const Layout& layout,
                          const PipelineRanks& ranks, int64_t micro_batches,
                          const PipelineLinks& links);

// Returns the share of PipelineTime() that is lost near the device's capacity. Where micro-batches
// overlap in a pipeline, tensors are not freed in a stack's order: the caching allocator then
// returns blocks and requests others, which stops the device.
inline double AllocatorPressure(const FrameworkProfile& profile, const Layout& layout,
                                double fraction_of_device) {
  if (layout.pp == 1) return 0.0;
  return profile.kept.pressure_slope *
         std::max(0.0, fraction_of_device - profile.kept.pressure_from);
}

}  // namespace meshwright::planner
