// Estimates the time of one micro-batch on each stage of a layout.
#pragma once

#include <cstddef>
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
  StageDurations durations;  // input_gradient_s includes recompute

  double total_s() const { return parts.total_s(); }
  // Adds `count` times `other`.
  void Add(const StageTime& other, double count) {
    parts.Add(other.parts, count);
    durations.forward_s += count * other.durations.forward_s;
    durations.input_gradient_s += count * other.durations.input_gradient_s;
    durations.weight_gradient_s += count * other.durations.weight_gradient_s;
    durations.vocabulary_forward_s += count * other.durations.vocabulary_forward_s;
    durations.vocabulary_backward_s += count * other.durations.vocabulary_backward_s;
  }
};

// The times of one unit of each kind: layers by shape, the head, the embedding, towers.
struct UnitTimes {
  explicit UnitTimes(const StepShape& step);

  // Adds to `time` the embedding, and the towers before it.
  void AddEmbedding(StageTime& time) const;
  // Adds to `time` the head and the multi-token-prediction (MTP) layers.
  void AddHead(const ModelSpec& model, const Layout& layout, StageTime& time) const;

  absl::InlinedVector<StageTime, 4> layers;      // by shape, as PlannedLayout::blocks()
  absl::InlinedVector<StageTime, 4> recomputed;  // by shape, under full recompute
  absl::InlinedVector<StageTime, 4> copies;      // by shape: waits for an offloaded layer's copies
  // By shape: waits for the copies of offloaded weights.
  absl::InlinedVector<StageTime, 4> weight_copies;
  StageTime head;
  StageTime embedding;
  size_t further_shape = 0;  // shape of the MTP layers
  StageTime mtp;             // only for models with MTP layers
  StageTime towers;          // all towers, blocks and ends together
};

// The times of a layout's stages. Times of units that stages share are computed once. REQUIRES: the
// shape outlives this object.
class StageTimes {
 public:
  explicit StageTimes(const StepShape& step) : step_(step), units_(step) {}

  // Return the time of stage `stage`, and of all chunks of pipeline rank `rank`.
  StageTime OfStage(int32_t stage) const;
  StageTime OfRank(int32_t rank) const;

 private:
  void AddStage(int32_t stage, StageTime& time) const;

  const StepShape& step_;
  const UnitTimes units_;
};

// Returns one micro-batch's durations on every stage, for the schedules' simulator.
std::vector<StageDurations> StageDurationsOf(const EstimateContext& context, const Layout& layout);

// Returns the bytes of an activation that one rank sends to the next stage.
double HopBytes(const StepShape& step);
// Return the seconds in which an activation reaches the next stage, including the host's
// pipeline_hop_s. In the first form, `pipeline_group` holds the ranks of a pipeline.
double HopTime(const EstimateContext& context, const Network& network,
               const RankGroup& pipeline_group, double hop_bytes);
double HopTime(const StepShape& step);
double HopTime(const EstimateContext& context, const Layout& layout);

}  // namespace meshwright::planner
