#include "planner/worker_memory/worker_memory.h"

#include <algorithm>
#include <utility>

namespace meshwright::planner {
namespace {

// A block of a stage, and the bytes that the layers around it keep.
struct BlockPlace {
  const WorkerBlockBytes& block;
  int64_t kept_before = 0;   // by the layers before it, between forward and backward
  int64_t split_before = 0;  // by the layers before it, between the two parts of a split backward
  int64_t split_behind = 0;  // by the layers after it, between the two parts of a split backward
};

// Requires 0 <= index < stage.layers.
BlockPlace PlaceOf(const WorkerStageBytes& stage, int64_t index) {
  int64_t kept_before = 0;
  int64_t split_before = 0;
  size_t i = 0;
  while (index >= stage.runs[i].count) {
    kept_before += stage.runs[i].count * stage.runs[i].kept_on_device();
    split_before += stage.runs[i].count * stage.runs[i].block.split;
    index -= stage.runs[i++].count;
  }
  const WorkerRun& run = stage.runs[i];
  int64_t split_behind = (run.count - 1 - index) * run.block.split;
  for (++i; i < stage.runs.size(); ++i) {
    split_behind += stage.runs[i].count * stage.runs[i].block.split;
  }
  return {.block = run.block,
          .kept_before = kept_before + index * run.kept_on_device(),
          .split_before = split_before + index * run.block.split,
          .split_behind = split_behind};
}

// Sets `peak` to the larger of the two.
void Reach(WorkerActivations& peak, const WorkerActivations& moment) {
  if (moment.total_bytes() > peak.total_bytes()) peak = moment;
}

// Returns the peak of a block, with `kept` bytes kept by the rest of the stage.
WorkerActivations PeakOf(const WorkerBlockBytes::Halves& halves, int64_t kept, int64_t loss) {
  WorkerActivations peak = {kept + halves.ffn.kept, loss, halves.ffn.workspace};
  Reach(peak, {kept + halves.attention.kept, loss, halves.attention.workspace});
  return peak;
}

// Returns the bytes that wait for the embedding, the last part of a weight part: token ids and the
// gradient of its output.
int64_t WaitingBytes(const WorkerStageBytes& stage) {
  return stage.ends.token_ids + (stage.first ? stage.ends.stream : 0);
}

// A whole backward passes the blocks from the last to the first, so blocks before the current block
// still keep all of their tensors. The same holds for the input part of a split backward; after it,
// blocks keep only the tensors that the weight part needs.
WorkerActivations BlockPeak(const WorkerStageBytes& stage, ActionKind kind, int64_t index) {
  const BlockPlace place = PlaceOf(stage, index);
  const int64_t kept = stage.ends.token_ids + place.kept_before;
  switch (kind) {
    case ActionKind::kForward:
      return {kept + place.block.forward.kept, 0, place.block.forward.workspace};
    case ActionKind::kBackward:
      return PeakOf(place.block.backward, kept, 0);
    case ActionKind::kBackwardInput:
      return PeakOf(place.block.input, kept + place.split_behind, stage.ends.head_split);
    case ActionKind::kBackwardWeight:
      return PeakOf(place.block.weight, WaitingBytes(stage) + place.split_before, 0);
    case ActionKind::kVocabularyForward:
    case ActionKind::kVocabularyBackward:
      break;  // the worker has no schedule that divides the vocabulary
  }
  return {};
}

WorkerActivations EmbeddingPeak(const WorkerStageBytes& stage, ActionKind kind) {
  const WorkerEndBytes& ends = stage.ends;
  switch (kind) {
    case ActionKind::kForward:
      return {ends.token_ids, 0, ends.embedding_forward};
    case ActionKind::kBackward:
      return {ends.token_ids, 0, ends.stream + ends.embedding_gathered};
    case ActionKind::kBackwardInput:
      return {};
    case ActionKind::kBackwardWeight:
      return {WaitingBytes(stage), 0, ends.embedding_gathered};
    case ActionKind::kVocabularyForward:
    case ActionKind::kVocabularyBackward:
      break;  // as above
  }
  return {};
}

WorkerActivations HeadPeak(const WorkerStageBytes& stage, ActionKind kind) {
  const WorkerEndBytes& ends = stage.ends;
  switch (kind) {
    case ActionKind::kForward:
      return {stage.kept.kept_bytes, ends.head_kept, ends.head_forward};
    case ActionKind::kBackward:
      return {stage.kept.kept_bytes, ends.head_kept, ends.head_backward};
    case ActionKind::kBackwardInput:
      return {stage.kept.kept_bytes, ends.head_kept, ends.head_input};
    case ActionKind::kBackwardWeight:
      return {stage.kept_split.kept_bytes, ends.head_split, ends.head_weight};
    case ActionKind::kVocabularyForward:
    case ActionKind::kVocabularyBackward:
      break;  // as above
  }
  return {};
}

// The kept bytes grow evenly within a run of like blocks, so the peak is at an end of the run.
WorkerActivations ActionPeak(const WorkerStageBytes& stage, ActionKind kind) {
  WorkerActivations peak;
  if (stage.first) Reach(peak, EmbeddingPeak(stage, kind));
  int64_t begin = 0;
  for (const WorkerRun& run : stage.runs) {
    Reach(peak, BlockPeak(stage, kind, begin));
    begin += run.count;
    if (run.count > 1) Reach(peak, BlockPeak(stage, kind, begin - 1));
  }
  if (stage.last) Reach(peak, HeadPeak(stage, kind));
  return peak;
}

}  // namespace

WorkerStages::WorkerStages(absl::Span<const WorkerShape> shapes, const Layout& layout)
    : layout_(layout), ends_(EndBytes(shapes.front())) {
  for (const WorkerShape& shape : shapes) {
    Group& group = groups_.emplace_back();
    group.shape = shape;
    group.other = BlockBytes(shape, RecomputeOf(layout, FirstLayers()));
    if (FirstLayers() > 0) group.first = BlockBytes(shape, RecomputeOf(layout, 0));
  }
}

namespace {

// Adds up a stage from its blocks, in the order of the model.
class StageSum {
 public:
  StageSum(const WorkerStage& stage, const WorkerEndBytes& ends)
      : bytes_{.first = stage.first, .last = stage.last, .ends = ends} {
    if (!stage.first) bytes_.ends.token_ids = 0;
    if (!stage.last) bytes_.ends.head_kept = bytes_.ends.head_split = 0;
    bytes_.kept = {bytes_.ends.token_ids, bytes_.ends.head_kept, 0};
    bytes_.kept_split = {WaitingBytes(bytes_), bytes_.ends.head_split, 0};
  }

  void Add(const WorkerRun& run) {
    if (run.count == 0) return;
    bytes_.runs.push_back(run);
    bytes_.layers += run.count;
    bytes_.kept.kept_bytes += run.count * run.kept_on_device();
    bytes_.kept.host_bytes += run.count * run.kept_on_host();
    bytes_.kept_split.kept_bytes += run.count * run.block.split;
  }

  WorkerStageBytes WithPeaks() && {
    for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward,
                                  ActionKind::kBackwardInput, ActionKind::kBackwardWeight}) {
      bytes_.peak[static_cast<size_t>(kind)] = ActionPeak(bytes_, kind);
    }
    return std::move(bytes_);
  }

 private:
  WorkerStageBytes bytes_;
};

}  // namespace

WorkerStageBytes WorkerStages::BytesOf(const WorkerStage& stage) const {
  StageSum sum(stage, ends_);
  int64_t first = FirstLayers();
  int64_t to_offload = layout_.offload.activation_layers;
  for (const WorkerLayers& layers : stage.layers) {
    const int64_t unlike = std::min(first, layers.count);
    const int64_t offloaded = std::min(to_offload, layers.count - unlike);
    const int64_t others = layers.count - unlike - offloaded;
    const Group& group = groups_[static_cast<size_t>(layers.group)];
    sum.Add({.block = group.first, .count = unlike, .group = layers.group});
    sum.Add({.block = group.other, .count = offloaded, .group = layers.group, .offloaded = true});
    sum.Add({.block = group.other, .count = others, .group = layers.group});
    first -= unlike;
    to_offload -= offloaded;
  }
  return std::move(sum).WithPeaks();
}

WorkerStageBytes WorkerStages::BytesOf(const WorkerStage& stage,
                                       absl::Span<const ExpertRows> rows) const {
  StageSum sum(stage, ends_);
  int64_t layer = 0;
  for (const WorkerLayers& layers : stage.layers) {
    WorkerShape shape = groups_[static_cast<size_t>(layers.group)].shape;
    for (int64_t i = 0; i < layers.count; ++i, ++layer) {
      if (shape.block.has_experts()) {
        shape.block.expert_rows = rows.front();
        rows.remove_prefix(1);
      }
      sum.Add({.block = BlockBytes(shape, RecomputeOf(layout_, layer)),
               .count = 1,
               .group = layers.group,
               .offloaded = layer < layout_.offload.activation_layers});
    }
  }
  return std::move(sum).WithPeaks();
}

int32_t GroupOf(const WorkerStageBytes& stage, int64_t block) {
  size_t i = 0;
  while (block >= stage.runs[i].count) block -= stage.runs[i++].count;
  return stage.runs[i].group;
}

WorkerActivations PartPeak(const WorkerStageBytes& stage, ActionKind kind, int64_t part) {
  if (part == kEmbeddingPart) return EmbeddingPeak(stage, kind);
  if (part == HeadPart(stage)) return HeadPeak(stage, kind);
  return BlockPeak(stage, kind, part);
}

}  // namespace meshwright::planner
