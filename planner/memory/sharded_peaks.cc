#include "planner/memory/sharded_peaks.h"

#include <algorithm>

namespace meshwright::planner {
namespace {

bool AddsWeightGradients(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardWeight;
}

bool UsesWeights(ActionKind kind) { return kind != ActionKind::kBackwardWeight; }

// First and last part that an action needs weights for, in its order. The embedding's backward
// needs none.
int64_t FirstUse(const WorkerStageBytes& stage, ActionKind kind) {
  if (kind == ActionKind::kForward) return stage.first ? kEmbeddingPart : 0;
  return stage.last ? HeadPart(stage) : stage.layers - 1;
}
int64_t LastUse(const WorkerStageBytes& stage, ActionKind kind) {
  if (kind == ActionKind::kForward) return stage.last ? HeadPart(stage) : stage.layers - 1;
  return 0;
}

int64_t Step(ActionKind kind) { return kind == ActionKind::kForward ? 1 : -1; }

// Where what a part takes can be the most: what blocks keep grows evenly, and transient states are
// those of layers, but at the ends and where the kind of block changes.
bool IsCorner(const WorkerStageBytes& stage, int64_t part) {
  const int64_t change = stage.parts.recomputed_blocks;
  return part < 2 || part >= stage.layers - 2 || part == change || part == change - 1;
}

}  // namespace

ShardedPeaks::ShardedPeaks(const TransientUnits& units,
                           absl::Span<const WorkerStageBytes* const> chunks,
                           const std::vector<Action>& actions)
    : units_(units), chunks_(chunks), actions_(actions), weight_gradients_left_(chunks.size(), 0) {
  for (const Action& action : actions) {
    if (AddsWeightGradients(action.kind)) ++weight_gradients_left_[action.chunk];
  }
}

int64_t ShardedPeaks::WeightBytes(const WorkerStageBytes& stage, int64_t part) const {
  if (part == kEmbeddingPart) return units_.weights.table;
  if (part < stage.layers) return units_.weights.layer;
  return units_.weights.table + units_.weights.final_norm;
}

int64_t ShardedPeaks::GradientBytes(const WorkerStageBytes& stage, int64_t part) const {
  const bool block = part >= 0 && part < stage.layers;
  return block ? units_.gradients.layer : units_.gradients.table;
}

// Follows the uses behind the action's last: those of the same weights leave them whole.
void ShardedPeaks::LookAhead(size_t index, Case& next) const {
  const Action& action = actions_[index];
  Place held = {.chunk = action.chunk, .part = LastUse(*chunks_[action.chunk], action.kind)};
  bool is_next = true;
  for (size_t i = index + 1; i < actions_.size(); ++i) {
    const Action& other = actions_[i];
    if (!UsesWeights(other.kind)) continue;
    const WorkerStageBytes& stage = *chunks_[other.chunk];
    Place use = {.chunk = other.chunk, .part = FirstUse(stage, other.kind)};
    const bool same = use == held;
    // The head leaves the table that it shares to the embedding.
    const bool shared = is_next && units_.shared_table && use.part == kEmbeddingPart &&
                        held.part == HeadPart(*chunks_[held.chunk]);
    if (same || shared) {
      if (is_next) {
        next.between_bytes = same ? WeightBytes(stage, use.part) : units_.weights.table;
      }
      is_next = false;
      if (use.part == LastUse(stage, other.kind)) continue;
      use.part += Step(other.kind);
    }
    next.ahead_bytes = WeightBytes(stage, use.part);
    break;
  }
  next.between_bytes += next.ahead_bytes;
}

ShardedPeaks::Solved ShardedPeaks::Solve(const Case& of) const {
  const WorkerStageBytes& stage = *of.stage;
  Solved solved = {.of = of, .peak = {}};
  int64_t newest = of.newest_bytes;
  int64_t older = of.older_bytes;
  const auto reach = [&](WorkerActivations moment, int64_t transient_bytes) {
    moment.workspace_bytes += transient_bytes;
    if (moment.total_bytes() > solved.peak.total_bytes()) solved.peak = moment;
  };
  ForEachPart(stage, of.kind, [&](int64_t part) {
    int64_t weights = of.between_bytes;
    if (UsesWeights(of.kind) && !(of.kind != ActionKind::kForward && part == kEmbeddingPart)) {
      const bool ends = part == LastUse(stage, of.kind);
      weights = WeightBytes(stage, part) +
                (ends ? of.ahead_bytes : WeightBytes(stage, part + Step(of.kind)));
    }
    const bool adds = AddsWeightGradients(of.kind);
    // The part's own bucket takes the place of the older one.
    const int64_t bucket = adds ? GradientBytes(stage, part) : older;
    if (IsCorner(stage, part)) reach(PartPeak(stage, of.kind, part), weights + newest + bucket);
    if (!adds) return;
    older = newest;
    newest = bucket;
    if (part == HeadPart(stage) && of.last) {
      older = newest;
      newest = units_.gradients.final_norm;
    }
  });
  solved.newest_bytes = newest;
  solved.older_bytes = older;
  return solved;
}

WorkerActivations ShardedPeaks::Next() {
  const Action& action = actions_[next_];
  Case next = {.stage = chunks_[action.chunk],
               .kind = action.kind,
               .newest_bytes = newest_bytes_,
               .older_bytes = older_bytes_};
  if (units_.weights.layer > 0) LookAhead(next_, next);
  if (AddsWeightGradients(action.kind)) {
    next.last = --weight_gradients_left_[action.chunk] == 0 && next.stage->last;
  }
  ++next_;
  auto known = std::find_if(solved_.begin(), solved_.end(),
                            [&](const Solved& solved) { return solved.of == next; });
  if (known == solved_.end()) known = solved_.insert(solved_.end(), Solve(next));
  newest_bytes_ = known->newest_bytes;
  older_bytes_ = known->older_bytes;
  return known->peak;
}

}  // namespace meshwright::planner
