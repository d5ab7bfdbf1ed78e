#include "planner/cost/stage_time.h"

#include "planner/memory/chunks_in_flight.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

StageTime TimeOf(const LayerTime& layer) {
  StageTime time;
  time.parts[TimePart::kCompute] = layer.compute_s();
  time.parts[TimePart::kRecompute] = layer.recompute_s;
  time.parts[TimePart::kTp] = layer.tp_forward_s + layer.tp_backward_s + layer.tp_recompute_s;
  time.parts[TimePart::kCp] = layer.cp_forward_s + layer.cp_backward_s + layer.cp_recompute_s;
  time.parts[TimePart::kEp] = layer.ep_forward_s + layer.ep_backward_s + layer.ep_recompute_s;
  time.durations.forward_s =
      layer.forward_s + layer.tp_forward_s + layer.cp_forward_s + layer.ep_forward_s;
  time.durations.input_gradient_s =
      layer.input_gradient_s + layer.tp_backward_s + layer.cp_backward_s + layer.ep_backward_s +
      layer.recompute_s + layer.tp_recompute_s + layer.cp_recompute_s + layer.ep_recompute_s;
  time.durations.weight_gradient_s = layer.weight_gradient_s;
  return time;
}

StageTime TimeOf(const CopyTime& copy) {
  StageTime time;
  time.parts[TimePart::kOffload] = copy.forward_s + copy.backward_s;
  time.durations.forward_s = copy.forward_s;
  time.durations.input_gradient_s = copy.backward_s;
  return time;
}

// A sequence without images passes no tower.
StageTime TimeOfTowers(const StepShape& step) {
  StageTime time;
  if (step.context.training.media_tokens == 0) return time;
  for (const auto& tower : step.planned.towers()) {
    const LayerTime block = EstimateTowerBlock(step, *tower);
    time.Add(TimeOf(RecomputesTowers(step.layout) ? Recomputed(step, *tower->block, block) : block),
             static_cast<double>(tower->layers));
    time.Add(TimeOf(EstimateTowerEnds(step, *tower)), 1.0);
  }
  return time;
}

}  // namespace

UnitTimes::UnitTimes(const StepShape& step)
    : head(TimeOf(EstimateHead(step))),
      embedding(TimeOf(EstimateEmbedding(step))),
      further_shape(step.planned.further_shape()) {
  for (size_t shape = 0; shape < step.planned.blocks().size(); ++shape) {
    const LayerTime layer = EstimateLayer(step, shape);
    layers.push_back(TimeOf(layer));
    const BlockSums& block = step.planned.block(shape);
    const LayerTime again = Recomputed(step, block, layer);
    recomputed.push_back(TimeOf(again));
    const bool runs_again = step.layout.recompute == Recompute::kFull;
    const LayerTime& runs = runs_again ? again : layer;
    copies.push_back(TimeOf(ExposedCopies(step, block, runs)));
    weight_copies.push_back(TimeOf(ExposedWeightCopies(step, block, runs)));
  }
  if (DividesVocabulary(step.layout.schedule)) {
    const StageDurations whole = head.durations;
    head.durations = {.vocabulary_forward_s = whole.forward_s,
                      .vocabulary_backward_s = whole.backward_s()};
  }
  if (step.context.model.mtp_layers > 0) mtp = TimeOf(EstimateMtp(step));
  towers = TimeOfTowers(step);
}

void UnitTimes::AddEmbedding(StageTime& time) const {
  time.Add(embedding, 1.0);
  time.Add(towers, 1.0);
}

void UnitTimes::AddHead(const ModelSpec& model, const Layout& layout, StageTime& time) const {
  const auto further = static_cast<double>(model.mtp_layers);
  time.Add(head, 1.0 + further);
  if (further == 0.0) return;
  time.Add(mtp, further);
  time.Add((layout.recompute == Recompute::kFull ? recomputed : layers)[further_shape], further);
}

void StageTimes::AddStage(int32_t stage, StageTime& time) const {
  const Layout& layout = step_.layout;
  const StageLayers& held = step_.planned.Stage(stage);
  FirstLayers offloaded = FirstLayers::Offloaded(layout);
  FirstLayers recomputed = FirstLayers::Recomputed(layout);
  ForEachRun(step_.context.shapes, held, [&](size_t shape, int64_t count) {
    if (const int64_t moved = offloaded.Of(count); moved > 0) {
      time.Add(units_.copies[shape], static_cast<double>(moved));
    }
    if (layout.offload.parameters) {
      time.Add(units_.weight_copies[shape], static_cast<double>(count));
    }
    const int64_t again = recomputed.Of(count);
    time.Add(units_.layers[shape], static_cast<double>(count - again));
    if (again > 0) time.Add(units_.recomputed[shape], static_cast<double>(again));
  });
  if (held.has_embedding) units_.AddEmbedding(time);
  if (held.has_head) units_.AddHead(step_.context.model, layout, time);
}

StageTime StageTimes::OfStage(int32_t stage) const {
  StageTime time;
  AddStage(stage, time);
  return time;
}

StageTime StageTimes::OfRank(int32_t rank) const {
  StageTime time;
  for (int32_t chunk = 0; chunk < step_.layout.vpp; ++chunk) {
    AddStage(StageOfChunk(step_.layout, rank, chunk), time);
  }
  return time;
}

std::vector<StageDurations> StageDurationsOf(const EstimateContext& context, const Layout& layout) {
  const StepShape step(context, layout);
  const StageTimes times(step);
  std::vector<StageDurations> durations;
  durations.reserve(static_cast<size_t>(StageCount(layout)));
  for (int32_t stage = 0; stage < StageCount(layout); ++stage) {
    durations.push_back(times.OfStage(stage).durations);
  }
  return durations;
}

double HopBytes(const StepShape& step) {
  return step.HiddenBytes() * static_cast<double>(step.context.model.residual_streams) /
         static_cast<double>(step.SequenceDivisor());
}

double HopTime(const EstimateContext& context, const Network& network,
               const RankGroup& pipeline_group, double hop_bytes) {
  return SendTime(network, pipeline_group, hop_bytes) +
         context.profile.communication.pipeline_hop_s;
}

double HopTime(const StepShape& step) {
  return HopTime(step.context, step.network, step.pipeline_group, HopBytes(step));
}

double HopTime(const EstimateContext& context, const Layout& layout) {
  return HopTime(StepShape(context, layout));
}

}  // namespace meshwright::planner
