// What a slice trial says. One rank of each distinct stage ran alone on one device: its computation
// and its memory are measured. Its communication was charged from the cost model of a cluster, and
// the schedule's simulator composed the step of the whole layout from both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/cost/measured_step.h"
#include "planner/schedule/schedule.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::trial {

// All actions of one kind in one chunk, the mean of one.
struct SliceAction {
  planner::ActionKind kind = planner::ActionKind::kForward;
  int32_t chunk = 0;
  planner::TimeParts part = {};  // compute, tp, cp and dp

  friend bool operator==(const SliceAction&, const SliceAction&) = default;
};

// What the chunks of some pipeline ranks have in common: the same kinds of layers, embedding, head.
struct SliceStage {
  std::vector<int32_t> pipeline_ranks;
  int32_t measured_rank = 0;  // the pipeline rank that was run: the one that holds the most
  std::vector<SliceAction> actions;
  double optimizer_s = 0.0;  // measured, of a step
  double dp_behind_s = 0.0;  // modelled: what nothing hides of reductions, behind the last action
  int64_t peak_bytes = 0;    // measured
  int64_t estimated_bytes = 0;  // predicted

  friend bool operator==(const SliceStage&, const SliceStage&) = default;
};

// Operations of a measured rank in one step that are alike.
struct ChargedOperation {
  int32_t measured_rank = 0;
  std::string group;
  planner::CollectiveKind operation = planner::CollectiveKind::kAllReduce;
  int64_t ranks = 0;  // of the group, so many apart from each other
  int64_t stride = 0;
  int64_t bytes = 0;  // the full buffer of one
  double calls = 0.0;
  double seconds = 0.0;  // modelled, of one

  friend bool operator==(const ChargedOperation&, const ChargedOperation&) = default;
};

struct SliceResult {
  std::string cluster;  // whose cost model the communication is charged from
  std::vector<SliceStage> stages;
  std::vector<ChargedOperation> charged;
  double hop_s = 0.0;  // modelled: one message from stage to stage
  planner::ComposedStep step;

  friend bool operator==(const SliceResult&, const SliceResult&) = default;
};

}  // namespace meshwright::trial
