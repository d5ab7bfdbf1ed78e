#include "executor/worker/pipeline_executor.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace meshwright {

void PipelineExecutor::Run(const std::vector<Action>& actions, const TokenSource& tokens) {
  for (const Action& action : actions) {
    switch (action.kind) {
      case ActionKind::kForward:
        RunForward(action, tokens);
        break;
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        RunBackward(action);
        break;
      case ActionKind::kBackwardWeight: {
        const ScopedPhase phase(context_.clock, Phase::kBackward);
        stages_[action.chunk]->BackwardWeight(action.micro_batch);
        --in_flight_;
        break;
      }
    }
  }
  const ScopedPhase phase(context_.clock, Phase::kPipeline);
  activation_sent_.Wait();
  gradient_sent_.Wait();
}

at::Tensor PipelineExecutor::ReceiveFrom(Communicator& communicator, int32_t stage) {
  at::Tensor tensor = at::empty({context_.tokens(), context_.model.hidden}, context_.options());
  communicator.Receive(tensor, HolderOf(stage)).Wait();
  return tensor;
}

void PipelineExecutor::RunForward(const Action& action, const TokenSource& tokens) {
  Stage& stage = *stages_[action.chunk];
  const int32_t number = StageNumber(action.chunk);
  at::Tensor input;
  {
    const ScopedPhase phase(context_.clock, Phase::kPipeline);
    activation_sent_.Wait();
    if (!stage.layers().has_embedding) {
      input = ReceiveFrom(*context_.groups.activations, number - 1);
    }
  }
  peak_in_flight_ = std::max(peak_in_flight_, ++in_flight_);
  const ScopedPhase phase(context_.clock, Phase::kForward);
  const at::Tensor output = stage.Forward(action.micro_batch, std::move(input), tokens);
  if (!stage.layers().has_head) {
    activation_sent_ = context_.groups.activations->Send(output, HolderOf(number + 1));
  }
}

void PipelineExecutor::RunBackward(const Action& action) {
  Stage& stage = *stages_[action.chunk];
  const int32_t number = StageNumber(action.chunk);
  at::Tensor gradient;
  {
    const ScopedPhase phase(context_.clock, Phase::kPipeline);
    gradient_sent_.Wait();
    if (!stage.layers().has_head) {
      gradient = ReceiveFrom(*context_.groups.activation_gradients, number + 1);
    }
  }
  const ScopedPhase phase(context_.clock, Phase::kBackward);
  if (action.kind == ActionKind::kBackward) {
    gradient = stage.Backward(action.micro_batch, std::move(gradient));
    --in_flight_;
  } else {
    gradient = stage.BackwardInput(action.micro_batch, std::move(gradient));
  }
  if (!stage.layers().has_embedding) {
    gradient_sent_ = context_.groups.activation_gradients->Send(gradient, HolderOf(number - 1));
  }
}

}  // namespace meshwright
