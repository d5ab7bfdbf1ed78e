// ShardedPeaks computes the maximum number of bytes that an action holds simultaneously under ZeRO
// 2 and 3 without layered accumulation. These bytes include the transient states
// (planner/worker_memory/transient_states.h).
//
// The peak depends on the action, on the buckets that earlier actions left under reduction, and on
// the weights that are gathered for the next action. A schedule repeats only a few such cases, so
// each case is computed once.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "planner/schedule/schedule.h"
#include "planner/worker_memory/transient_states.h"
#include "planner/worker_memory/worker_memory.h"

namespace meshwright::planner {

class ShardedPeaks {
 public:
  // `actions` are all actions of a step, on the stages of `chunks`. All arguments must outlive the
  // object.
  ShardedPeaks(const TransientUnits& units, absl::Span<const WorkerStageBytes* const> chunks,
               const std::vector<Action>& actions);

  // Returns the bytes that the micro-batch of the next action holds at its peak, with transient
  // states counted as workspace. `stage` has the bytes of the action's chunk for this micro-batch,
  // and must outlive the object.
  WorkerActivations Next(const WorkerStageBytes& stage);

 private:
  // The state around an action. Equal cases have equal peaks.
  struct Case {
    const WorkerStageBytes* stage = nullptr;
    ActionKind kind = ActionKind::kForward;
    int64_t newest_bytes = 0;  // the newest bucket under reduction when the action begins
    int64_t older_bytes = 0;   // the buckets before it that are still held
    // Bytes of weights that are gathered for a later action during the action's last use of
    // weights.
    int64_t ahead_bytes = 0;
    // Bytes of weights that stay gathered between that use and the next use.
    int64_t between_bytes = 0;
    // If true, the action adds the step's last weight gradients to a chunk that has the head.
    bool last = false;

    friend bool operator==(const Case&, const Case&) = default;
  };
  struct Solved {
    Case of;
    WorkerActivations peak;
    int64_t newest_bytes = 0;  // after the action
    int64_t older_bytes = 0;
  };

  // A position in a chunk's forward order: the embedding, blocks, the head. A use is a position
  // whose weights an action needs.
  struct PeakPosition {
    int32_t chunk = 0;
    int64_t part = 0;

    friend bool operator==(const PeakPosition&, const PeakPosition&) = default;
  };

  // The first use after last_use_ whose weights are not all gathered by then.
  struct Missing {
    size_t action = 0;       // the use's action; the number of actions if there is none
    int64_t bytes = 0;       // weights that must be gathered
    int64_t left_bytes = 0;  // weights that the previous use leaves gathered
  };

  bool IsHead(const PeakPosition& use) const { return use.part == HeadPart(*chunks_[use.chunk]); }
  // Returns the bytes of weights that two consecutive uses have in common.
  int64_t SharedBytes(const PeakPosition& use, const PeakPosition& next) const;
  void FindMissing(size_t index);
  int64_t LeftForNextUse(size_t index) const;
  void LookAhead(size_t index, Case& next);
  int64_t WeightBytes(const WorkerStageBytes& stage, int64_t part) const;
  int64_t GradientBytes(const WorkerStageBytes& stage, int64_t part) const;
  // Returns the bytes of the bucket whose reduction begins last, among the buckets that a part
  // fills.
  int64_t LastGradientBytes(const WorkerStageBytes& stage, int64_t part) const;
  Solved Solve(const Case& of) const;

  const TransientUnits& units_;
  const absl::Span<const WorkerStageBytes* const> chunks_;
  const std::vector<Action>& actions_;
  absl::InlinedVector<int64_t, 16> weight_gradients_left_;  // number still to come, by chunk
  std::vector<Solved> solved_;
  size_t next_ = 0;
  PeakPosition last_use_;  // the last use of weights up to the current action
  Missing missing_;
  int64_t newest_bytes_ = 0;
  int64_t older_bytes_ = 0;
};

}  // namespace meshwright::planner
