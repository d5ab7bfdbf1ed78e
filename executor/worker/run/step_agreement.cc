#include "executor/worker/run/step_agreement.h"

#include <ATen/ops/full.h>

#include "executor/worker/comm/memory_account.h"

namespace meshwright::worker {

trial::StopReason StepAgreement::After(double step_s) {
  ++steps_;
  if (!options_.adaptive) {
    return steps_ >= options_.steps ? trial::StopReason::kSteps : trial::StopReason::kNone;
  }
  Receive();
  // Not counted as the training's memory.
  const ScopedMemoryAccount uncounted(nullptr);
  exchanged_ = at::full({1}, step_s, context_.options_of(at::kDouble));
  if (context_.groups.world != nullptr) {
    pending_ = context_.groups.world->AllReduce(exchanged_, Reduction::kMax);
  } else {
    Receive();
  }
  trial::StopReason reason = trial::DecideStop(times_s_, options_);
  if (reason == trial::StopReason::kNone && steps_ >= options_.steps)
    reason = trial::StopReason::kSteps;
  // No rank may leave the group with an exchange pending.
  if (reason != trial::StopReason::kNone) Receive();
  return reason;
}

void StepAgreement::Receive() {
  if (!exchanged_.defined()) return;
  const ScopedMemoryAccount uncounted(nullptr);
  pending_.Wait();
  times_s_.push_back(exchanged_.item<double>());
  exchanged_.reset();
}

}  // namespace meshwright::worker
