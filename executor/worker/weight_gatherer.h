// Makes the weights of units whole for as long as stages compute with them, where the rank holds
// shards (ZeRO-3): carries out the plan of planner/schedule/weight_gathers.h. Under lower ZeRO
// stages there is nothing to do.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "executor/worker/communicator.h"
#include "executor/worker/flat_unit.h"
#include "executor/worker/rank_context.h"
#include "executor/worker/stage.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/weight_gathers.h"

namespace meshwright {

class WeightGatherer {
 public:
  // For steps that run `actions` on `stages`, the rank's chunks. Their units outlive it.
  WeightGatherer(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages,
                 const std::vector<Action>& actions);

  // Starts the step's first gather.
  void BeginStep();
  // What the stages tell (executor/worker/unit_observer.h).
  void Before(const WeightGroup& units);
  void After(const WeightGroup& units);

 private:
  void Start(const UnitGroup& numbers);
  void CheckIsNext(const WeightGroup& units) const;

  RankContext& context_;
  std::vector<FlatUnit*> units_;  // by their numbers in the plan
  std::vector<WeightUse> uses_;   // of a step
  std::vector<GatherStep> steps_;
  size_t next_ = 0;                       // use
  std::map<int32_t, Pending> under_way_;  // by unit
};

}  // namespace meshwright
