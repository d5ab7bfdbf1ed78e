// Time of one micro-batch on each stage of a layout.
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/cost/layer_time.h"
#include "planner/cost/offload_time.h"
#include "planner/cost/step_shape.h"
#include "planner/cost/time_part.h"
#include "planner/schedule/stage_durations.h"

namespace meshwright::planner {

// Seconds of one micro-batch on one stage, or on all stages of a pipeline rank.
struct StageTime {
  TimeParts parts;           // compute, recompute, tp, cp, ep and offload
  StageDurations durations;  // the same time, by part of the schedule; recompute comes before the
                             // input gradient

  double total_s() const { return parts.total_s(); }
};

// A layout's layers, worked out once for all of its stages. Refers to the shape, which must outlive
// it.
class StageTimes {
 public:
  explicit StageTimes(const StepShape& step);

  // Stage `stage` of pp * vpp; all chunks of pipeline rank `rank`.
  StageTime OfStage(int32_t stage) const;
  StageTime OfRank(int32_t rank) const;

 private:
  void AddStage(int32_t stage, StageTime& time) const;

  const StepShape& step_;
  absl::InlinedVector<LayerTime, 4> layers_;      // by layer group
  absl::InlinedVector<LayerTime, 4> recomputed_;  // the same under full recompute
  absl::InlinedVector<CopyTime, 4> copies_;       // that an offloaded layer waits for
  LayerTime head_;
  LayerTime embedding_;
  LayerTime mtp_;  // only of models that predict further tokens
};

// One micro-batch on every stage, for the schedules' simulator.
std::vector<StageDurations> StageDurationsOf(const EstimateContext& context, const Layout& layout);

// Seconds of one hop of an activation to the next stage.
double HopTime(const StepShape& step);
double HopTime(const EstimateContext& context, const Layout& layout);

}  // namespace meshwright::planner
