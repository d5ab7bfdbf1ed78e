// These functions make layouts and times for schedule tests.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "planner/schedule/generators.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/simulator.h"

namespace meshwright::planner {

inline constexpr ScheduleKind kAllSchedules[] = {
    ScheduleKind::kGpipe,        ScheduleKind::k1f1b,           ScheduleKind::kInterleaved,
    ScheduleKind::kBreadthFirst, ScheduleKind::kZbH1,           ScheduleKind::kZbV,
    ScheduleKind::kZbH2,         ScheduleKind::kVHalf,          ScheduleKind::k1f1bVocab1,
    ScheduleKind::k1f1bVocab2,   ScheduleKind::k1f1bInterlaced, ScheduleKind::kVHalfVocab1};

inline Layout Pipeline(ScheduleKind schedule, int32_t pp, int32_t vpp) {
  Layout layout;
  layout.pp = pp;
  layout.vpp = vpp;
  layout.schedule = schedule;
  return layout;
}

// Returns the times of equal stages. `rank` has a micro-batch's times in all chunks of a rank
// together.
inline PipelineTimes EqualTimes(const Layout& layout, const StageDurations& rank,
                                double hop_s = 0.0) {
  const double v = layout.vpp;
  PipelineTimes times;
  times.stages.assign(static_cast<size_t>(layout.pp) * layout.vpp,
                      {rank.forward_s / v, rank.input_gradient_s / v, rank.weight_gradient_s / v});
  times.hop_s = {hop_s};
  return times;
}

// Calls visit(layout, micro_batches) for every schedule with every valid combination of pp, vpp and
// micro-batches up to the given maxima.
template <typename Visit>
void ForEachPipeline(int32_t max_pp, int32_t max_vpp, int32_t max_micro_batches,
                     const Visit& visit) {
  for (const ScheduleKind schedule : kAllSchedules) {
    for (int32_t pp = 1; pp <= max_pp; ++pp) {
      for (int32_t vpp = 1; vpp <= max_vpp; ++vpp) {
        for (int32_t m = 1; m <= max_micro_batches; ++m) {
          const Layout layout = Pipeline(schedule, pp, vpp);
          if (CheckScheduleExists(layout, m).ok()) visit(layout, m);
        }
      }
    }
  }
}

inline std::string Name(const Layout& layout, int32_t micro_batches) {
  return absl::StrCat(std::string(ScheduleName(layout.schedule)), " p", layout.pp, " v", layout.vpp,
                      " m", micro_batches);
}

}  // namespace meshwright::planner
