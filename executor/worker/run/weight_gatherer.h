// WeightGatherer gathers the weights of units for the stages that compute with them, if each rank
// updates only a shard.
//
// Under ZeRO 3, weights are whole only while stages compute with them, by the plan of
// planner/schedule/weight_gathers.h. Under ZeRO 1 and 2, they are gathered once per step. The
// gathers of all units are started at the beginning of the step, in order of first use. A unit's
// first use waits only for that unit's gather, so that earlier computation hides later gathers.
//
// No gather is pending between steps, so that a step's time includes the gathers for the previous
// update. The first step also gathers, although the initial weights are already whole, so that its
// time is comparable to the time of other steps.
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
  // Plans the gathers of steps that run `actions` on `stages`, the rank's chunks. REQUIRES: the
  // stages' units outlive this object.
  WeightGatherer(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages,
                 const std::vector<planner::Action>& actions);

  // Starts the step's first gather under ZeRO 3, and all gathers otherwise.
  void BeginStep();
  // Notifications from the stages (executor/worker/state/unit_observer.h).
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
  std::vector<FlatUnit*> units_;          // by number in the plan
  std::vector<planner::WeightUse> uses_;  // of a step, under ZeRO-3
  std::vector<planner::GatherStep> steps_;
  size_t next_ = 0;  // index into uses_
  std::map<const FlatUnit*, Pending> under_way_;
};

}  // namespace meshwright::worker
