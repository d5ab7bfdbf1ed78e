#include "executor/worker/run/trainer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "executor/worker/run/gradient_dump.h"
#include "executor/worker/run/rehearsal.h"
#include "executor/worker/state/matrix_update.h"
#include "planner/schedule/placement.h"

namespace meshwright::worker {

Trainer::Trainer(RankContext& context, std::vector<planner::Action> actions, int32_t open_sends)
    : context_(context),
      actions_(std::move(actions)),
      rope_(context),
      executor_(context, stages_, actions_, open_sends),
      reducer_(context) {
  for (int32_t chunk = 0; chunk < context.layout.vpp; ++chunk) {
    const int32_t number = planner::StageOfChunk(context.layout, context.coordinates.pp, chunk);
    const planner::StageLayers layers =
        planner::StageOf(context.model, context.layout, planner::StagePartition::kEqual, number);
    // A rank that holds both ends of the model holds the first in its first chunk.
    Stage* front =
        planner::EndsShareRank(context.layout) && chunk > 0 ? stages_.front().get() : nullptr;
    stages_.push_back(std::make_unique<Stage>(context, layers, rope_, front));
  }
  gatherer_.emplace(context, stages_, actions_);
}

void Trainer::Rehearse() { meshwright::worker::Rehearse(context_, stages_); }

StepResult Trainer::Step(int64_t step) {
  const auto start = std::chrono::steady_clock::now();
  context_.recorder.BeginStep();
  context_.expert_traffic.rows.clear();
  gatherer_->BeginStep();
  reducer_.BeginStep();
  for (const auto& stage : stages_) stage->BeginStep(this);
  executor_.Run(TokenSource(context_, step));
  const auto [shards, copies] = context_.groups.replicas();
  Pending loss = SumLoss(shards != nullptr ? shards : copies);
  const GradientSquareSum squares = Update(step);
  MoveSelectionBiases();
  loss.Wait();
  if (shards != nullptr) SumLoss(copies).Wait();
  context_.recorder.EndStep();
  StepResult result{.loss = MeanLoss(), .gradient_square_sum = squares.Value()};
  result.expert_rows = std::move(context_.expert_traffic.rows);
  context_.device->Synchronize();
  result.step_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.record = context_.recorder.Take();
  return result;
}

FlatUnit* Trainer::TiedUnit() const {
  for (const auto& stage : stages_) {
    if (FlatUnit* unit = stage->tied_unit(); unit != nullptr) return unit;
  }
  return nullptr;
}

bool Trainer::CountsCopy(const FlatUnit& unit) const {
  return &unit != TiedUnit() || context_.groups.tied_embeddings->rank() == 0;
}

void Trainer::FinishGradients(FlatUnit& unit) {
  reducer_.WaitFor(unit);
  if (&unit != TiedUnit()) return;
  context_.groups.tied_embeddings->AllReduce(unit.own_gradients(), Reduction::kSum).Wait();
}

std::vector<FlatUnit*> Trainer::UnitsToUpdate() const {
  std::vector<FlatUnit*> units = reducer_.complete();
  // Last, as the other copy of tied embeddings may be complete much later.
  std::stable_partition(units.begin(), units.end(),
                        [tied = TiedUnit()](const FlatUnit* unit) { return unit != tied; });
  return units;
}

// Unit by unit, so that one's update overlaps with the next one's reduction.
GradientSquareSum Trainer::Update(int64_t step) {
  const ScopedPhase phase(context_.clock, trial::Phase::kOptimizer);
  const std::vector<FlatUnit*> units = UnitsToUpdate();
  const bool dumps = !dump_directory_.empty();
  if (dumps) {
    for (FlatUnit* unit : units) FinishGradients(*unit);
    DumpGradients(context_, stages_, std::exchange(dump_directory_, ""));
  }
  GradientSquareSum squares(context_);
  for (FlatUnit* unit : units) {
    if (!dumps) FinishGradients(*unit);
    if (CountsCopy(*unit)) squares.Add(*unit);
    unit->Update(context_, AdamWOptions(), step + 1);
  }
  // After all reductions have released their buckets.
  for (FlatUnit* unit : units) {
    if (unit->orthogonal_elements() == 0) continue;
    MatrixUpdate(context_, *unit).Run(AdamWOptions(), MuonOptions());
  }
  return squares;
}

void Trainer::MoveSelectionBiases() {
  const ScopedPhase phase(context_.clock, trial::Phase::kOptimizer);
  // Without sequence parallel the ranks of the TP group route the same tokens.
  Communicator* tp = context_.layout.sequence_parallel ? context_.groups.tp.get() : nullptr;
  const auto [shards, copies] = context_.groups.replicas();
  context_.selection_biases.Move({tp, shards, copies});
}

Pending Trainer::SumLoss(Communicator* group) {
  if (group == nullptr) return {};
  for (const auto& stage : stages_) {
    if (stage->layers().has_head) return group->AllReduce(stage->loss_sum(), Reduction::kSum);
  }
  return {};
}

std::optional<double> Trainer::MeanLoss() const {
  for (const auto& stage : stages_) {
    if (!stage->layers().has_head) continue;
    const planner::TrainingSpec& training = context_.training;
    return stage->loss_sum().item<double>() /
           static_cast<double>(training.global_batch * training.seq_len);
  }
  return std::nullopt;
}

}  // namespace meshwright::worker
