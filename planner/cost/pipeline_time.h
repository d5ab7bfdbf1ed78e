// Estimates the part of a step that does not depend on ZeRO: the micro-batches of a pipeline's
// ranks, the pipeline's idle time and messages, and the wait for the slowest device.
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

// Times of one micro-batch on the ranks of a pipeline.
struct PipelineRanks {
  StageTime slowest;
  double slowest_s = 0.0;  // total seconds of `slowest`
  TimeParts sum;           // sum over all ranks
  double sum_s = 0.0;      // total seconds of `sum`

  // Adds `ranks` ranks. Each takes the time `rank`, whose total is `rank_s`.
  void Add(const StageTime& rank, double rank_s, int32_t ranks) {
    sum.Add(rank.parts, ranks);
    sum_s += ranks * rank_s;
    if (rank_s <= slowest_s) return;
    slowest = rank;
    slowest_s = rank_s;
  }
};

// Quantities on which a pipeline's time depends, besides the times of its ranks.
struct PipelineLinks {
  double core_share = 1.0;        // the share of a device that a rank has (ThroughputShare())
  double hop_s = 0.0;             // seconds to send one activation to the next stage
  double straggler_factor = 1.0;  // StragglerFactor() of all devices
};

// Returns the step time without data-parallel communication, the optimizer and allocator pressure.
TimeEstimate PipelineTime(const FrameworkProfile& profile, const Layout& layout,
                          const PipelineRanks& ranks, int64_t micro_batches,
                          const PipelineLinks& links);

// Returns the time that is lost near the device's capacity, as a share of PipelineTime(). If
// micro-batches overlap in a pipeline, tensors are not freed in the reverse order of their
// allocation. The caching allocator then returns memory blocks to the device and requests others,
// and the device waits meanwhile.
inline double AllocatorPressure(const FrameworkProfile& profile, const Layout& layout,
                                double fraction_of_device) {
  if (layout.pp == 1) return 0.0;
  return profile.kept.pressure_slope *
         std::max(0.0, fraction_of_device - profile.kept.pressure_from);
}

}  // namespace meshwright::planner
