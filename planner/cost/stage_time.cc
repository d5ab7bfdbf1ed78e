#include "planner/cost/stage_time.h"

#include <algorithm>

#include "planner/memory/chunks_in_flight.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

void Add(const LayerTime& layer, double count, StageTime& time) {
  time.parts[TimePart::kCompute] += count * layer.compute_s();
  time.parts[TimePart::kRecompute] += count * layer.recompute_s;
  time.parts[TimePart::kTp] +=
      count * (layer.tp_forward_s + layer.tp_backward_s + layer.tp_recompute_s);
  time.parts[TimePart::kCp] +=
      count * (layer.cp_forward_s + layer.cp_backward_s + layer.cp_recompute_s);
  time.parts[TimePart::kEp] +=
      count * (layer.ep_forward_s + layer.ep_backward_s + layer.ep_recompute_s);
  time.durations.forward_s +=
      count * (layer.forward_s + layer.tp_forward_s + layer.cp_forward_s + layer.ep_forward_s);
  time.durations.input_gradient_s +=
      count *
      (layer.input_gradient_s + layer.tp_backward_s + layer.cp_backward_s + layer.ep_backward_s +
       layer.recompute_s + layer.tp_recompute_s + layer.cp_recompute_s + layer.ep_recompute_s);
  time.durations.weight_gradient_s += count * layer.weight_gradient_s;
}

void Add(const CopyTime& copy, double count, StageTime& time) {
  time.parts[TimePart::kOffload] += count * (copy.forward_s + copy.backward_s);
  time.durations.forward_s += count * copy.forward_s;
  time.durations.input_gradient_s += count * copy.backward_s;
}

}  // namespace

StageTimes::StageTimes(const StepShape& step)
    : step_(step), head_(EstimateHead(step)), embedding_(EstimateEmbedding(step)) {
  for (size_t group = 0; group < step.context.model.groups.size(); ++group) {
    const size_t alike = step.planned.FirstAlikeGroup(group);
    layers_.push_back(alike < group ? layers_[alike] : EstimateLayer(step, group));
    recomputed_.push_back(Recomputed(layers_.back()));
    copies_.push_back(ExposedCopies(step, step.planned.block(group), layers_.back()));
  }
  if (step.context.model.mtp_layers > 0) mtp_ = EstimateMtp(step);
}

void StageTimes::AddStage(int32_t stage, StageTime& time) const {
  const Layout& layout = step_.layout;
  const StageLayers& held = step_.planned.Stage(stage);
  OffloadedLayers offloaded(layout);
  ForEachGroup(step_.context.model, held, [&](size_t group, int64_t count) {
    Add(copies_[group], static_cast<double>(offloaded.Of(count)), time);
    int64_t again = 0;
    if (layout.recompute == Recompute::kFull) again = count;
    if (layout.recompute == Recompute::kBlock) {
      again = std::min<int64_t>(count, layout.recompute_layers);
    }
    Add(layers_[group], static_cast<double>(count - again), time);
    if (again > 0) Add(recomputed_[group], static_cast<double>(again), time);
  });
  if (held.has_embedding) Add(embedding_, 1.0, time);
  if (!held.has_head) return;
  const auto further = static_cast<double>(step_.context.model.mtp_layers);
  Add(head_, 1.0 + further, time);
  if (further == 0.0) return;
  Add(mtp_, further, time);
  Add(layout.recompute == Recompute::kFull ? recomputed_.back() : layers_.back(), further, time);
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
  for (int32_t stage = 0; stage < StageCount(layout); ++stage) {
    durations.push_back(times.OfStage(stage).durations);
  }
  return durations;
}

double HopTime(const StepShape& step) {
  return SendTime(step.network, step.pipeline_group,
                  step.HiddenBytes() / static_cast<double>(step.SequenceDivisor())) +
         step.context.profile.communication.pipeline_hop_s;
}

double HopTime(const EstimateContext& context, const Layout& layout) {
  return HopTime(StepShape(context, layout));
}

}  // namespace meshwright::planner
