// Makes the weights of units whole for the stages that compute with them, where each rank updates a
// shard of its own.
//
// Under ZeRO-3, where ranks hold no more than that, for as long as stages compute with them: this
// carries out the plan of planner/schedule/weight_gathers.h. Under ZeRO 1 and 2 once a step: its
// beginning starts the gathers of all units, in the order in which the step first uses them, and
// each first use waits for its own. What is computed before hides the gathers of the units behind.
//
// So no gather is under way between steps, and nothing that a rank does there hides one: a step's
// time holds the gathers of the update before it. The first step gathers initial weights, which are
// whole already, to be like the others.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/model/stage.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/weight_gathers.h"

namespace meshwright::worker {

class WeightGatherer {
 public:
  // For steps that run `actions` on `stages`, the rank's chunks. Their units outlive it.
  WeightGatherer(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages,
                 const std::vector<planner::Action>& actions);

  // Starts the step's first gather, or all.
  void BeginStep();
  // What the stages tell (executor/worker/unit_observer.h).
  void Before(const WeightGroup& units);
  void After(const WeightGroup& units);

 private:
  void Plan(const std::vector<std::unique_ptr<Stage>>& stages,
            const std::vector<planner::Action>& actions);
  void Start(FlatUnit& unit);
  void Start(const planner::UnitGroup& numbers);
  void WaitFor(const WeightGroup& units);
  void CheckIsNext(const WeightGroup& units) const;

  RankContext& context_;
  std::vector<FlatUnit*> units_;          // by their numbers in the plan
  std::vector<planner::WeightUse> uses_;  // of a step, under ZeRO-3
  std::vector<planner::GatherStep> steps_;
  size_t next_ = 0;  // use
  std::map<const FlatUnit*, Pending> under_way_;
};

}  // namespace meshwright::worker
