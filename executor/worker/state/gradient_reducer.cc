#include "executor/worker/state/gradient_reducer.h"

#include <algorithm>
#include <utility>

#include "executor/worker/state/release_storage.h"
#include "executor/worker/state/replicated_gradients.h"

namespace meshwright::worker {

void GradientReducer::BeginStep() {
  passes_.clear();
  complete_.clear();
}

void GradientReducer::Open(FlatUnit& unit) {
  if (unit.gradients_open()) return;
  while (under_way_.size() > 1) FinishOldest();
  unit.OpenGradients();
}

bool GradientReducer::CompletesStep(const FlatUnit& unit, bool pass_complete) {
  return pass_complete && ++passes_[&unit] == unit.users();
}

void GradientReducer::Added(FlatUnit& unit, bool pass_complete) {
  const bool last = CompletesStep(unit, pass_complete);
  if (last) {
    SumReplicatedGradients(context_, unit);
    complete_.push_back(&unit);
  }
  if (unit.replicas() == nullptr) return;
  if (ReducesMicroBatches(unit)) {
    const bool layered = context_.layout.schedule == planner::ScheduleKind::kBreadthFirst;
    if (layered && !pass_complete) return;
    // A unit of vectors alone opens for the last reduction only.
    if (last) Open(unit);
    if (unit.gradients_open()) Start(unit, last);
  } else if (last) {
    Start(unit, last);
  }
}

void GradientReducer::Start(FlatUnit& unit, bool last) {
  Communicator& replicas = *unit.replicas();
  at::Tensor gradients = unit.CloseGradients(/*with_vectors=*/last);
  Pending pending = unit.zero() == 0 ? replicas.AllReduce(gradients, Reduction::kSum)
                                     : replicas.ReduceScatter(unit.OwnPart(gradients), gradients);
  under_way_.push_back({&unit, std::move(gradients), std::move(pending)});
}

void GradientReducer::FinishOldest() {
  UnderWay reduction = std::move(under_way_.front());
  under_way_.pop_front();
  reduction.pending.Wait();
  if (!ReducesMicroBatches(*reduction.unit)) return;
  reduction.unit->AddToOwnGradients(reduction.unit->OwnPart(reduction.gradients));
  ReleaseStorage(reduction.gradients);
}

void GradientReducer::WaitFor(const FlatUnit& unit) {
  const auto is_under_way = [&] {
    return std::any_of(under_way_.begin(), under_way_.end(),
                       [&](const UnderWay& reduction) { return reduction.unit == &unit; });
  };
  while (is_under_way()) FinishOldest();
}

}  // namespace meshwright::worker
