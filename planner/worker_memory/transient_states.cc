#include "planner/worker_memory/transient_states.h"

namespace meshwright::planner {

TransientStates::TransientStates(const TransientUnits& units,
                                 absl::Span<const WorkerStageBytes* const> chunks,
                                 const std::vector<Action>& actions)
    : layered_(units.layered), gathers_(units.gathers()), weight_gradients_left_(chunks.size(), 0) {
  for (const WorkerStageBytes* stage : chunks) Number(units, *stage);
  for (const Action& action : actions) {
    if (AddsWeightGradients(action.kind)) ++weight_gradients_left_[action.chunk];
  }
  if (gathers_) steps_ = PlanGathers(WeightUses(actions, chunks_, layered_));
}

void TransientStates::Number(const TransientUnits& units, const WorkerStageBytes& stage) {
  const auto add = [&](int64_t gradient_bytes, int64_t weight_bytes, bool has_matrices = true) {
    units_.push_back({.gradient_bytes = gradient_bytes,
                      .weight_bytes = weight_bytes,
                      .has_matrices = has_matrices});
    return static_cast<int32_t>(units_.size()) - 1;
  };
  ChunkWeights& chunk = chunks_.emplace_back();
  chunk.has_embedding = stage.first;
  if (stage.first) {
    table_ = add(units.gradients.table, units.weights.table);
    chunk.groups.push_back({table_});
  }
  for (int64_t i = 0; i < stage.layers; ++i) {
    const int32_t group = GroupOf(stage, i);
    UnitGroup& layer = chunk.groups.emplace_back();
    layer.push_back(add(units.gradients.layer(group), units.weights.layer(group)));
    if (units.gradients.experts_of(group) > 0) {
      layer.push_back(add(units.gradients.experts_of(group), units.weights.experts_of(group)));
    }
  }
  if (!stage.last) return;
  const int32_t head =
      units.shared_table ? table_ : add(units.gradients.table, units.weights.table);
  // A norm without parameters is no unit.
  if (units.gradients.final_norm == 0 && units.weights.final_norm == 0) {
    chunk.groups.push_back({head});
    return;
  }
  chunk.groups.push_back({head, add(units.gradients.final_norm, units.weights.final_norm,
                                    /*has_matrices=*/false)});
}

int64_t TransientStates::WeightBytes(const UnitGroup& group) const {
  int64_t bytes = 0;
  for (const int32_t unit : group) bytes += units_[unit].weight_bytes;
  return bytes;
}

void TransientStates::MakeRoom() {
  while (reducing_.size() > 1) {
    reducing_bytes_ -= reducing_.front();
    reducing_.pop_front();
  }
}

// Units that are not sharded are always open.
void TransientStates::Open(Unit& unit) {
  if (unit.open || unit.gradient_bytes == 0) return;
  MakeRoom();
  unit.open = true;
  open_bytes_ += unit.gradient_bytes;
}

void TransientStates::Reduce(int64_t bytes) {
  if (bytes == 0) return;
  reducing_.push_back(bytes);
  reducing_bytes_ += bytes;
}

void TransientStates::Added(const Action& action, int64_t part, const UnitGroup& group) {
  const ChunkWeights& chunk = chunks_[action.chunk];
  const bool last = weight_gradients_left_[action.chunk] == 0;
  // The embedding's gradients are added to a table that the chunk's head shares.
  const bool comes_again = chunk.has_embedding && part != kEmbeddingPart && group[0] == table_;
  for (const int32_t number : group) {
    Unit& unit = units_[number];
    if (unit.has_matrices) {
      if (layered_ && (!last || comes_again)) continue;
      unit.open = false;
      open_bytes_ -= unit.gradient_bytes;
    } else {
      if (!last) continue;
      MakeRoom();
    }
    Reduce(unit.gradient_bytes);
  }
}

int64_t TransientStates::Next(const Action& action, int64_t part) {
  const ChunkWeights& chunk = chunks_[action.chunk];
  const auto position = static_cast<size_t>(part - (chunk.has_embedding ? kEmbeddingPart : 0));
  const UnitGroup& group = chunk.groups[position];
  const bool adds = AddsWeightGradients(action.kind);
  const bool backward = action.kind != ActionKind::kForward;
  const bool uses = gathers_ && action.kind != ActionKind::kBackwardWeight &&
                    !(backward && part == kEmbeddingPart);
  if (uses) {
    const GatherStep& step = steps_[next_step_];
    whole_bytes_ += WeightBytes(step.gather) + WeightBytes(step.prefetch);
  }
  if (adds) {
    // A backward adds first to the chunk's last part.
    if (position + 1 == chunk.groups.size()) --weight_gradients_left_[action.chunk];
    for (const int32_t unit : group) {
      if (units_[unit].has_matrices) Open(units_[unit]);
    }
  }
  const int64_t held_bytes = HeldBytes();
  if (adds) Added(action, part, group);
  if (uses) whole_bytes_ -= WeightBytes(steps_[next_step_++].release);
  return held_bytes;
}

}  // namespace meshwright::planner
