#include "planner/worker_memory/sharded_peaks.h"

#include <algorithm>

namespace meshwright::planner {
namespace {

// The embedding's backward needs no weights.
bool UsesWeights(const WorkerStageBytes& stage, ActionKind kind) {
  if (kind == ActionKind::kForward) return true;
  return kind != ActionKind::kBackwardWeight && (stage.layers > 0 || stage.last);
}

// Return the first and the last part that an action needs weights for, in its order. Require
// UsesWeights().
int64_t FirstUse(const WorkerStageBytes& stage, ActionKind kind) {
  if (kind == ActionKind::kForward) return stage.first ? kEmbeddingPart : 0;
  return stage.last ? HeadPart(stage) : stage.layers - 1;
}
int64_t LastUse(const WorkerStageBytes& stage, ActionKind kind) {
  if (kind == ActionKind::kForward) return stage.last ? HeadPart(stage) : stage.layers - 1;
  return 0;
}

int64_t Step(ActionKind kind) { return kind == ActionKind::kForward ? 1 : -1; }

// A stage may have neither layers nor ends of the model.
bool IsEmpty(const WorkerStageBytes& stage) {
  return stage.layers == 0 && !stage.first && !stage.last;
}

// Returns whether the peak may be at this part. Within a run of like blocks the kept bytes grow
// evenly and the transient states are equal, except at the ends and at a change of the kind of
// block.
bool IsCorner(const WorkerStageBytes& stage, int64_t part) {
  if (part < 0 || part >= stage.layers) return true;
  int64_t begin = 0;
  for (const WorkerRun& run : stage.runs) {
    const int64_t end = begin + run.count;
    if (part < end) return part < begin + 2 || part >= end - 2;
    begin = end;
  }
  return true;
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
  if (part < stage.layers) {
    const int32_t group = GroupOf(stage, part);
    return units_.weights.layer(group) + units_.weights.experts_of(group);
  }
  return units_.weights.table + units_.weights.final_norm;
}

int64_t ShardedPeaks::GradientBytes(const WorkerStageBytes& stage, int64_t part) const {
  const bool block = part >= 0 && part < stage.layers;
  if (!block) return units_.gradients.table;
  const int32_t group = GroupOf(stage, part);
  return units_.gradients.layer(group) + units_.gradients.experts_of(group);
}

int64_t ShardedPeaks::LastGradientBytes(const WorkerStageBytes& stage, int64_t part) const {
  const bool block = part >= 0 && part < stage.layers;
  const int64_t experts = block ? units_.gradients.experts_of(GroupOf(stage, part)) : 0;
  return experts > 0 ? experts : GradientBytes(stage, part);
}

int64_t ShardedPeaks::SharedBytes(const PeakPosition& use, const PeakPosition& next) const {
  if (use == next) return WeightBytes(*chunks_[use.chunk], use.part);
  if (!units_.shared_table) return 0;
  const bool of_ends =
      (IsHead(use) && next.part == kEmbeddingPart) || (use.part == kEmbeddingPart && IsHead(next));
  return of_ends ? units_.weights.table : 0;
}

// Follows the uses after the last one until one needs weights that the use before it does not leave
// whole.
void ShardedPeaks::FindMissing(size_t index) {
  PeakPosition use = last_use_;
  for (missing_.action = index + 1; missing_.action < actions_.size(); ++missing_.action) {
    const Action& other = actions_[missing_.action];
    const WorkerStageBytes& stage = *chunks_[other.chunk];
    if (!UsesWeights(stage, other.kind)) continue;
    const int64_t end = LastUse(stage, other.kind) + Step(other.kind);
    for (int64_t part = FirstUse(stage, other.kind); part != end; part += Step(other.kind)) {
      const PeakPosition later = {.chunk = other.chunk, .part = part};
      missing_.left_bytes = SharedBytes(use, later);
      missing_.bytes = WeightBytes(stage, part) - missing_.left_bytes;
      if (missing_.bytes > 0) return;
      use = later;
    }
  }
  missing_.bytes = 0;
}

// Returns the bytes that an action leaves whole and the next use shares.
int64_t ShardedPeaks::LeftForNextUse(size_t index) const {
  for (size_t i = index + 1; i < actions_.size(); ++i) {
    const Action& other = actions_[i];
    const WorkerStageBytes& stage = *chunks_[other.chunk];
    if (!UsesWeights(stage, other.kind) || IsEmpty(stage)) continue;
    return SharedBytes(last_use_, {.chunk = other.chunk, .part = FirstUse(stage, other.kind)});
  }
  return 0;
}

void ShardedPeaks::LookAhead(size_t index, Case& next) {
  // All uses up to the missing use are consecutive, whichever use is the last. The bytes that an
  // empty stage leaves belong to none of these uses.
  const bool is_known = missing_.action > index && !IsEmpty(*next.stage);
  if (!is_known) FindMissing(index);
  next.between_bytes = LeftForNextUse(index);
  // The head's final norm is not gathered again while it is whole.
  const bool still_whole = missing_.left_bytes > 0 && IsHead(last_use_);
  if (missing_.bytes > 0 && !still_whole) next.ahead_bytes = missing_.bytes;
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
    const bool needs_none = of.kind != ActionKind::kForward && part == kEmbeddingPart;
    if (UsesWeights(stage, of.kind) && !needs_none) {
      const bool ends = part == LastUse(stage, of.kind);
      weights = WeightBytes(stage, part) +
                (ends ? of.ahead_bytes : WeightBytes(stage, part + Step(of.kind)));
    }
    // Units that are not sharded have no bucket.
    const bool adds = AddsWeightGradients(of.kind) && GradientBytes(stage, part) > 0;
    // The part's own bucket takes the place of the older one.
    const int64_t bucket = adds ? GradientBytes(stage, part) : older;
    if (IsCorner(stage, part)) reach(PartPeak(stage, of.kind, part), weights + newest + bucket);
    if (!adds) return;
    const int64_t last = LastGradientBytes(stage, part);
    older = newest + bucket - last;
    newest = last;
    // A norm without parameters is no unit.
    const bool norm = units_.gradients.final_norm > 0 || units_.weights.final_norm > 0;
    if (part == HeadPart(stage) && of.last && norm) {
      older = newest;
      newest = units_.gradients.final_norm;
    }
  });
  solved.newest_bytes = newest;
  solved.older_bytes = older;
  return solved;
}

WorkerActivations ShardedPeaks::Next(const WorkerStageBytes& stage) {
  const Action& action = actions_[next_];
  Case next = {.stage = &stage,
               .kind = action.kind,
               .newest_bytes = newest_bytes_,
               .older_bytes = older_bytes_};
  if (UsesWeights(*next.stage, action.kind)) {
    last_use_ = {.chunk = action.chunk, .part = LastUse(*next.stage, action.kind)};
  }
  if (units_.gathers()) LookAhead(next_, next);
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
