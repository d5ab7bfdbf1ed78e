// StepAgreement decides among all ranks when a trial has run enough steps
// (executor/trial/stop_rule.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "executor/trial/stop_rule.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// A step takes as long as its slowest rank. So that decisions delay no rank, ranks exchange a
// step's time while the next step runs. A decision is therefore based on the steps up to the last
// but one. All ranks use the same times and decide alike.
class StepAgreement {
 public:
  // REQUIRES: `context` outlives this object.
  StepAgreement(RankContext& context, const trial::StopOptions& options)
      : context_(context), options_(options) {}

  // Must be called after each step. Returns why that step was the last one, or kNone if another
  // step follows.
  trial::StopReason After(double step_s);

 private:
  // Finishes the pending exchange.
  void Receive();

  RankContext& context_;
  const trial::StopOptions options_;
  int32_t steps_ = 0;
  std::vector<double> times_s_;  // of the slowest ranks
  at::Tensor exchanged_;
  Pending pending_;
};

}  // namespace meshwright::worker
