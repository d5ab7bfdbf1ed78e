// Trainer runs the training steps of one rank: schedule, gradient reductions, optimizer.
//
// If ranks divide the update (ZeRO), updated weights reach the other ranks when the next step needs
// them (executor/worker/run/weight_gatherer.h). Between steps, only a rank's own shard is up to
// date.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/worker/model/rope_table.h"
#include "executor/worker/model/stage.h"
#include "executor/worker/run/pipeline_executor.h"
#include "executor/worker/run/weight_gatherer.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/gradient_reducer.h"
#include "executor/worker/state/gradient_square_sum.h"
#include "executor/worker/state/rank_context.h"
#include "executor/worker/state/unit_observer.h"
#include "planner/block/expert_rows.h"
#include "planner/schedule/schedule.h"

namespace meshwright::worker {

struct StepResult {
  double step_s = 0.0;
  // Mean cross entropy over the global batch before the update, on the rank that holds the head.
  std::optional<double> loss;
  // This rank's contribution to the squared gradient norm
  // (executor/worker/state/gradient_square_sum.h).
  double gradient_square_sum = 0.0;
  trial::StepRecord record = {};
  std::vector<planner::ExpertRows> expert_rows = {};  // ExpertTraffic::rows
};

// Exceptions of Torch and the communicators propagate.
class Trainer : private UnitObserver {
 public:
  // `actions` is the rank's list of actions, and `open_sends` the result of OpenSendsNeeded() for
  // the lists of all ranks. REQUIRES: `context` outlives this object.
  Trainer(RankContext& context, std::vector<planner::Action> actions, int32_t open_sends = 1);

  // Writes the next step's gradients to `directory`, one pair of files per rank.
  void DumpGradientsTo(std::string directory) { dump_directory_ = std::move(directory); }

  void PadActions(const ActionPadding& padding) { executor_.PadActions(padding); }

  // May be called before the first step (executor/worker/run/rehearsal.h).
  void Rehearse();

  // Runs a step. Steps count from 0, in order.
  StepResult Step(int64_t step);

  int32_t peak_in_flight() const { return executor_.peak_in_flight(); }
  const std::vector<std::unique_ptr<Stage>>& stages() const { return stages_; }

 private:
  void BeforeWeights(const WeightGroup& units) override { gatherer_->Before(units); }
  void AfterWeights(const WeightGroup& units) override { gatherer_->After(units); }
  void BeforeGradients(FlatUnit& unit) override { reducer_.Open(unit); }
  void AfterGradients(FlatUnit& unit, bool pass_complete) override {
    reducer_.Added(unit, pass_complete);
  }
  // Returns the unit of tied embeddings of which another rank has a copy, or null if there is none.
  FlatUnit* TiedUnit() const;
  // Returns whether this rank's copy of the unit counts in the gradient norm. If tied embeddings
  // have two copies, only one copy counts.
  bool CountsCopy(const FlatUnit& unit) const;
  // Waits until the unit's gradients are summed over all ranks.
  void FinishGradients(FlatUnit& unit);
  std::vector<FlatUnit*> UnitsToUpdate() const;
  // Returns the square sum of the gradients before the update.
  GradientSquareSum Update(int64_t step);
  void MoveSelectionBiases();
  // Sums the loss over a group of replicas, if this rank holds the head.
  Pending SumLoss(Communicator* group);
  std::optional<double> MeanLoss() const;

  RankContext& context_;
  const std::vector<planner::Action> actions_;
  const RopeTable rope_;
  std::vector<std::unique_ptr<Stage>> stages_;
  PipelineExecutor executor_;
  GradientReducer reducer_;
  std::optional<WeightGatherer> gatherer_;
  std::string dump_directory_;
};

}  // namespace meshwright::worker
