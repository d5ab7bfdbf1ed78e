#include "executor/worker/trainer.h"

#include <chrono>
#include <utility>

#include "executor/worker/gradient_dump.h"
#include "planner/schedule/placement.h"

namespace meshwright {

Trainer::Trainer(RankContext& context, std::vector<Action> actions, int32_t open_sends)
    : context_(context),
      actions_(std::move(actions)),
      rope_(context),
      executor_(context, stages_, open_sends) {
  for (int32_t chunk = 0; chunk < context.layout.vpp; ++chunk) {
    const int32_t number = StageOfChunk(context.layout, context.coordinates.pp, chunk);
    const StageLayers layers =
        StageOf(context.model, context.layout, StagePartition::kEqual, number);
    // A rank that holds both ends of the model holds the first in its first chunk.
    Stage* front = EndsShareRank(context.layout) && chunk > 0 ? stages_.front().get() : nullptr;
    stages_.push_back(std::make_unique<Stage>(context, layers, rope_, front));
  }
}

StepResult Trainer::Step(int64_t step) {
  const auto start = std::chrono::steady_clock::now();
  context_.recorder.BeginStep();
  for (const auto& stage : stages_) {
    stage->BeginStep([this](FlatUnit& unit) { StartReduction(unit); });
  }
  executor_.Run(actions_, TokenSource(context_, step));
  StepResult result{.loss = MeanLoss()};
  ReduceTiedEmbeddings();
  if (!dump_directory_.empty()) {
    const std::string directory = std::exchange(dump_directory_, "");
    for (auto& [unit, reduction] : reductions_) reduction.Wait();
    DumpGradients(context_, stages_, directory);
  }
  Update(step);
  context_.recorder.EndStep();
  context_.device->Synchronize();
  result.step_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.record = context_.recorder.Take();
  return result;
}

void Trainer::StartReduction(FlatUnit& unit) {
  if (context_.groups.replicas == nullptr) return;
  reductions_[&unit] = context_.groups.replicas->AllReduce(unit.flat_gradients(), Reduction::kSum);
}

void Trainer::ReduceTiedEmbeddings() {
  if (context_.groups.tied_embeddings == nullptr) return;
  for (const auto& stage : stages_) {
    if (stage->tied_unit() == nullptr) continue;
    reductions_[stage->tied_unit()].Wait();
    // The table is position 0 of both the embedding's and the head's unit.
    context_.groups.tied_embeddings
        ->AllReduce(stage->tied_unit()->gradient(kEmbeddingTable), Reduction::kSum)
        .Wait();
  }
}

void Trainer::Update(int64_t step) {
  const ScopedPhase phase(context_.clock, Phase::kOptimizer);
  for (const auto& stage : stages_) {
    for (const auto& unit : stage->units()) {
      reductions_[unit.get()].Wait();
      unit->Update(context_, AdamWOptions(), step + 1);
    }
  }
}

std::optional<double> Trainer::MeanLoss() {
  for (const auto& stage : stages_) {
    if (!stage->layers().has_head) continue;
    if (context_.groups.replicas != nullptr) {
      context_.groups.replicas->AllReduce(stage->loss_sum(), Reduction::kSum).Wait();
    }
    const TrainingSpec& training = context_.training;
    return stage->loss_sum().item<double>() /
           static_cast<double>(training.global_batch * training.seq_len);
  }
  return std::nullopt;
}

}  // namespace meshwright
