#include "executor/trial/slice_composition.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/text/status_macros.h"
#include "executor/trial/slice_charges.h"
#include "planner/block/stage_partition.h"
#include "planner/cost/measured_step.h"
#include "planner/cost/stage_time.h"
#include "planner/schedule/placement.h"

namespace meshwright::trial {
namespace {

// The charged parts of an action's time, and the phase of a replayed step that holds each.
constexpr std::array<std::pair<planner::TimePart, Phase>, 4> kCharged = {{
    {planner::TimePart::kTp, Phase::kTensorParallel},
    {planner::TimePart::kCp, Phase::kContextParallel},
    {planner::TimePart::kEp, Phase::kExpertParallel},
    {planner::TimePart::kDp, Phase::kDataParallel},
}};

// The contents of a chunk: embedding, head and layers by group.
struct ChunkContents {
  bool has_embedding = false;
  bool has_head = false;
  std::vector<std::pair<size_t, int64_t>> layers;

  friend bool operator==(const ChunkContents&, const ChunkContents&) = default;
};

std::vector<ChunkContents> ContentsOf(const planner::ModelSpec& model,
                                      const planner::Layout& layout, int32_t rank) {
  const planner::LayerShapes shapes(model);
  std::vector<ChunkContents> chunks;
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const planner::StageLayers held = planner::StageOf(
        model, layout, planner::StagePartition::kEqual, planner::StageOfChunk(layout, rank, chunk));
    ChunkContents& contents = chunks.emplace_back();
    contents.has_embedding = held.has_embedding;
    contents.has_head = held.has_head;
    planner::ForEachRun(shapes, held, [&](size_t shape, int64_t count) {
      contents.layers.emplace_back(shape, count);
    });
  }
  return chunks;
}

// Returns means over all actions of a kind in a chunk: measured time, and time added by the replay.
std::vector<SliceAction> ActionsOf(const MeasuredSlice& slice, const ReplayedStep& replayed) {
  std::vector<SliceAction> actions;
  for (const ActionTotal& total : slice.mean.actions) {
    SliceAction action{.kind = total.kind, .chunk = total.chunk, .part = {}};
    planner::TimeParts& part = action.part;
    part[planner::TimePart::kCompute] = (total.seconds - total.communication_s) / total.calls;
    double count = 0.0;
    for (size_t i = 0; i < replayed.actions.size(); ++i) {
      const planner::Action& done = slice.last.actions[i].action;
      if (done.kind != total.kind || done.chunk != total.chunk) continue;
      count += 1.0;
      for (const auto& [charged, phase] : kCharged) part[charged] += replayed.actions[i][phase];
    }
    const double share = count > 0.0 ? 1.0 / count : 0.0;
    for (const auto& [charged, phase] : kCharged) part[charged] *= share;
    actions.push_back(action);
  }
  return actions;
}

void AddCharges(const planner::StepShape& step, const MeasuredSlice& slice,
                std::vector<ChargedOperation>& charged) {
  std::map<std::tuple<std::string, planner::CollectiveKind, int64_t>, ChargedOperation> alike;
  for (const CommunicationSpan& span : slice.last.communication) {
    const auto group = ChargedGroup(step, span.group);
    if (!group.has_value()) continue;
    ChargedOperation& operation = alike[{span.group, span.operation, span.bytes}];
    const double calls = operation.calls + 1.0;
    operation = {.measured_rank = slice.stage.measured_rank,
                 .group = span.group,
                 .operation = span.operation,
                 .ranks = group->ranks(),
                 .stride = group->stride(),
                 .bytes = span.bytes,
                 .calls = calls,
                 .seconds = ChargeOf(step, span)};
  }
  for (auto& [key, operation] : alike) charged.push_back(std::move(operation));
}

SliceStage StageOfSlice(const planner::StepShape& step, const MeasuredSlice& slice) {
  const ReplayedStep replayed =
      Replay(slice.last, [&](const CommunicationSpan& span) { return ChargeOf(step, span); });
  SliceStage stage;
  stage.pipeline_ranks = slice.stage.pipeline_ranks;
  stage.measured_rank = slice.stage.measured_rank;
  stage.actions = ActionsOf(slice, replayed);
  stage.optimizer_s = slice.mean.phases[Phase::kOptimizer];
  stage.dp_behind_s = replayed.behind.total_s();
  stage.peak_bytes = slice.peak_bytes;
  stage.estimated_bytes = slice.estimated_bytes;
  return stage;
}

planner::MeasuredRank RankOf(const planner::Layout& layout, const SliceStage& stage) {
  planner::MeasuredRank rank;
  rank.chunks.resize(static_cast<size_t>(layout.vpp));
  rank.dp_behind_s = stage.dp_behind_s;
  rank.optimizer_s = stage.optimizer_s;
  for (const SliceAction& action : stage.actions) {
    planner::MeasuredChunk& chunk = rank.chunks[static_cast<size_t>(action.chunk)];
    switch (action.kind) {
      case planner::ActionKind::kForward:
        chunk.forward = action.part;
        break;
      case planner::ActionKind::kBackward:
      case planner::ActionKind::kBackwardInput:
        chunk.input_gradient = action.part;
        break;
      case planner::ActionKind::kBackwardWeight:
        chunk.weight_gradient = action.part;
        break;
      case planner::ActionKind::kVocabularyForward:
      case planner::ActionKind::kVocabularyBackward:
        break;  // the worker has no schedule that divides the vocabulary
    }
  }
  return rank;
}

}  // namespace

std::vector<DistinctStage> DistinctStages(const planner::ModelSpec& model,
                                          const planner::Layout& layout,
                                          const std::vector<int64_t>& estimated_bytes) {
  std::vector<DistinctStage> stages;
  std::vector<std::vector<ChunkContents>> contents;
  const auto bytes_of = [&](int32_t rank) {
    const auto index = static_cast<size_t>(rank);
    return index < estimated_bytes.size() ? estimated_bytes[index] : 0;
  };
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    const std::vector<ChunkContents> held = ContentsOf(model, layout, rank);
    const auto known = std::find(contents.begin(), contents.end(), held);
    if (known == contents.end()) {
      contents.push_back(held);
      stages.push_back({.pipeline_ranks = {rank}, .measured_rank = rank});
      continue;
    }
    DistinctStage& stage = stages[static_cast<size_t>(known - contents.begin())];
    stage.pipeline_ranks.push_back(rank);
    if (bytes_of(rank) > bytes_of(stage.measured_rank)) stage.measured_rank = rank;
  }
  return stages;
}

absl::StatusOr<SliceResult> ComposeSlices(const planner::EstimateContext& context,
                                          const planner::Layout& layout,
                                          const std::vector<MeasuredSlice>& slices) {
  const planner::StepShape step(context, layout);
  SliceResult result;
  result.cluster = context.cluster.name;
  for (const MeasuredSlice& slice : slices) {
    result.stages.push_back(StageOfSlice(step, slice));
    AddCharges(step, slice, result.charged);
  }
  result.hop_s = layout.pp > 1 ? planner::HopTime(step) : 0.0;
  std::vector<planner::MeasuredRank> ranks(static_cast<size_t>(layout.pp));
  for (const SliceStage& stage : result.stages) {
    for (const int32_t rank : stage.pipeline_ranks) {
      ranks[static_cast<size_t>(rank)] = RankOf(layout, stage);
    }
  }
  ASSIGN_OR_RETURN(result.step, planner::ComposeStep(context, layout, ranks));
  return result;
}

}  // namespace meshwright::trial
