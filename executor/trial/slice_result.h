// SliceResult is the outcome of a slice trial, in which one rank of each distinct stage runs alone
// on one device. The rank's computation and memory are measured, and its communication is charged
// by a cluster's cost model. The schedule's simulator composes the whole layout's step from both.
// If the trial has a runner, only the last rank runs, and its time is not split into parts. The
// bubble is then the estimate's bubble, scaled in proportion to the rank's time
// (executor/command/command_slice.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/cost/measured_step.h"
#include "planner/schedule/schedule.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::trial {

// The mean of all actions of one kind in one chunk.
struct SliceAction {
  planner::ActionKind kind = planner::ActionKind::kForward;
  int32_t chunk = 0;
  planner::TimeParts part = {};  // compute, tp, cp, ep and dp

  friend bool operator==(const SliceAction&, const SliceAction&) = default;
};

// A class of pipeline ranks whose chunks have the same kinds of layers, embedding and head.
struct SliceStage {
  std::vector<int32_t> pipeline_ranks;
  // The pipeline rank that ran: the one of pipeline_ranks with the largest estimated memory.
  int32_t measured_rank = 0;
  std::vector<SliceAction> actions;
  double optimizer_s = 0.0;  // measured, per step
  // Modelled exposed time of reductions after the last action, in seconds.
  double dp_behind_s = 0.0;
  int64_t peak_bytes = 0;       // measured
  int64_t estimated_bytes = 0;  // predicted

  friend bool operator==(const SliceStage&, const SliceStage&) = default;
};

// All operations of a measured rank in one step that have the same group, kind and number of bytes.
struct ChargedOperation {
  int32_t measured_rank = 0;
  std::string group;
  planner::CollectiveKind operation = planner::CollectiveKind::kAllReduce;
  int64_t ranks = 0;  // size of the group; its ranks are `stride` apart
  int64_t stride = 0;
  int64_t bytes = 0;  // full buffer of one operation
  double calls = 0.0;
  double seconds = 0.0;  // modelled time of one operation

  friend bool operator==(const ChargedOperation&, const ChargedOperation&) = default;
};

struct SliceResult {
  std::string cluster;  // the cluster whose cost model charges communication
  std::vector<SliceStage> stages;
  std::vector<ChargedOperation> charged;
  double hop_s = 0.0;  // modelled time of one message between stages
  planner::ComposedStep step;

  friend bool operator==(const SliceResult&, const SliceResult&) = default;
};

}  // namespace meshwright::trial
