// TransientStates computes the bytes of model states that a rank of Meshwright's own worker holds
// only temporarily. Under ZeRO 2 and 3 these are buckets of gradients on their way to the shards,
// and under ZeRO 3 also gathered weights.
//
// The rank's actions decide what is held, by the worker's rules.
// executor/worker/state/gradient_reducer.h has the rules for buckets,
// planner/schedule/weight_gathers.h the rules for weights. A bucket is held until the second bucket
// after it opens. Forwards open no buckets, so the last two buckets of a backward are also held
// during the forwards that follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/weight_gathers.h"
#include "planner/worker_memory/worker_memory.h"

namespace meshwright::planner {

// The bytes of one unit of each kind. A unit that is not sharded has 0 bytes.
struct UnitBytes {
  int64_t table = 0;                            // the embedding or the head
  absl::InlinedVector<int64_t, 4> layers = {};  // a layer, by shape; if empty, 0
  // A layer's experts, which are a unit of their own, by shape; if empty, 0.
  std::vector<int64_t> experts = {};
  int64_t final_norm = 0;

  int64_t layer(int32_t group) const {
    return layers.empty() ? 0 : layers[static_cast<size_t>(group)];
  }
  int64_t experts_of(int32_t group) const {
    return experts.empty() ? 0 : experts[static_cast<size_t>(group)];
  }
};

struct TransientUnits {
  UnitBytes gradients;        // bytes of a unit's gradient bucket
  UnitBytes weights = {};     // bytes of a unit's gathered weights; 0 if ranks keep weights whole
  bool shared_table = false;  // the head uses the embedding's matrix, which this rank holds
  bool layered = false;       // layered gradient accumulation

  // Returns whether weights are gathered. Experts may be sharded even if the rest is not.
  bool gathers() const {
    return weights.table > 0 || std::any_of(weights.experts.begin(), weights.experts.end(),
                                            [](int64_t bytes) { return bytes > 0; });
  }
};

class TransientStates {
 public:
  // `actions` are all actions of a step, on the stages of `chunks`. The arguments need not outlive
  // the constructor call.
  TransientStates(const TransientUnits& units, absl::Span<const WorkerStageBytes* const> chunks,
                  const std::vector<Action>& actions);

  // Returns the bytes held while a part of an action computes. REQUIRES: calls come in the order of
  // the actions and, within an action, of ForEachPart() (planner/worker_memory/worker_memory.h).
  int64_t Next(const Action& action, int64_t part);

 private:
  struct Unit {
    int64_t gradient_bytes = 0;
    int64_t weight_bytes = 0;
    bool has_matrices = true;
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
  std::vector<int64_t> weight_gradients_left_;  // weight-gradient actions left, by chunk
  std::vector<GatherStep> steps_;
  size_t next_step_ = 0;
  int64_t whole_bytes_ = 0;
  int64_t open_bytes_ = 0;
  std::deque<int64_t> reducing_;
  int64_t reducing_bytes_ = 0;
};

}  // namespace meshwright::planner
