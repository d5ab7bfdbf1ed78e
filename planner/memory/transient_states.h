// Model states that a rank of Meshwright's own worker holds for a while only: under ZeRO 2 and 3
// buckets of gradients on their way to the shards, under ZeRO 3 gathered weights.
//
// Goes through a rank's actions with the worker's rules, which let what is held follow from the
// actions alone: executor/worker/gradient_reducer.h for buckets, planner/schedule/weight_gathers.h
// for weights. Buckets that are open or under reduction stay until a later one opens, so that the
// last two are there in the forwards between.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "planner/memory/worker_memory.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/weight_gathers.h"

namespace meshwright::planner {

// By what is stored as one: the embedding or the head, a layer, the final norm.
struct UnitBytes {
  int64_t table = 0;
  absl::InlinedVector<int64_t, 4> layers = {};  // by layer group; none: 0
  int64_t final_norm = 0;

  int64_t layer(int32_t group) const {
    return layers.empty() ? 0 : layers[static_cast<size_t>(group)];
  }
};

struct TransientUnits {
  UnitBytes gradients;        // of a bucket
  UnitBytes weights = {};     // gathered; nothing where ranks keep them whole
  bool shared_table = false;  // the head computes with the embedding's, which this rank has
  bool layered = false;       // layered gradient accumulation

  bool gathers() const { return weights.table > 0; }
};

class TransientStates {
 public:
  // `actions` are all of a step, in the stages of `chunks`; both are needed during construction
  // only.
  TransientStates(const TransientUnits& units, absl::Span<const WorkerStageBytes* const> chunks,
                  const std::vector<Action>& actions);

  // Bytes while the next part (ForEachPart() of planner/memory/worker_memory.h) of the actions
  // computes.
  int64_t Next(const Action& action, int64_t part);

 private:
  struct Unit {
    int64_t gradient_bytes = 0;
    int64_t weight_bytes = 0;
    bool open = false;
  };

  void Number(const TransientUnits& units, const WorkerStageBytes& stage);
  int64_t HeldBytes() const { return whole_bytes_ + open_bytes_ + reducing_bytes_; }
  int64_t WeightBytes(const UnitGroup& group) const;
  void MakeRoom();
  void Open(Unit& unit);
  void Reduce(int64_t bytes);
  void Added(const Action& action, int64_t part, const UnitGroup& group);

  const bool layered_;
  const bool gathers_;
  int32_t table_ = -1;  // the embedding's unit
  std::vector<Unit> units_;
  std::vector<ChunkWeights> chunks_;
  std::vector<int64_t> weight_gradients_left_;  // actions, by chunk
  std::vector<GatherStep> steps_;
  size_t next_step_ = 0;
  int64_t whole_bytes_ = 0;
  int64_t open_bytes_ = 0;
  std::deque<int64_t> reducing_;
  int64_t reducing_bytes_ = 0;
};

}  // namespace meshwright::planner
