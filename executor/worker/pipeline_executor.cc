#include "executor/worker/pipeline_executor.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "planner/schedule/placement.h"

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
        const ScopedAction recorded(context_.recorder, action);
        const ScopedPadding padded(padding_, action.kind);
        stages_[action.chunk]->BackwardWeight(action.micro_batch);
        --in_flight_;
        break;
      }
    }
  }
  Drain(activations_, 0);
  Drain(gradients_, 0);
}

void PipelineExecutor::Drain(Outbox& outbox, size_t count) {
  for (std::deque<Pending>* open : {&outbox.up, &outbox.down}) {
    while (open->size() > count) {
      open->front().Wait();
      open->pop_front();
    }
  }
}

at::Tensor PipelineExecutor::Take(PipelineChannel& channel, Outbox& outbox, int32_t from_stage,
                                  int32_t to_stage, int32_t micro_batch) {
  const int32_t rank = context_.coordinates.pp;
  const int32_t from = PlaceOfStage(context_.layout, from_stage).rank;
  if (from == rank) return std::move(outbox.handed_over.extract({to_stage, micro_batch}).mapped());
  at::Tensor tensor =
      at::empty({context_.stream_tokens(), context_.model.hidden}, context_.options());
  channel.Towards(rank > from).Receive(tensor, from).Wait();
  return tensor;
}

void PipelineExecutor::Pass(PipelineChannel& channel, Outbox& outbox, int32_t to_stage,
                            int32_t micro_batch, at::Tensor tensor) {
  const int32_t rank = context_.coordinates.pp;
  const int32_t to = PlaceOfStage(context_.layout, to_stage).rank;
  if (to == rank) {
    outbox.handed_over.emplace(std::pair(to_stage, micro_batch), std::move(tensor));
    return;
  }
  (to > rank ? outbox.up : outbox.down).push_back(channel.Towards(to > rank).Send(tensor, to));
}

void PipelineExecutor::RunForward(const Action& action, const TokenSource& tokens) {
  Stage& stage = *stages_[action.chunk];
  const int32_t number = StageOfChunk(context_.layout, context_.coordinates.pp, action.chunk);
  PipelineChannel& channel = context_.groups.activations;
  Drain(activations_, open_sends_ - 1);
  at::Tensor tensor;
  if (number > 0) tensor = Take(channel, activations_, number - 1, number, action.micro_batch);
  peak_in_flight_ = std::max(peak_in_flight_, ++in_flight_);
  {
    const ScopedAction recorded(context_.recorder, action);
    const ScopedPadding padded(padding_, action.kind);
    tensor = stage.Forward(action.micro_batch, std::move(tensor), tokens);
  }
  if (number + 1 == StageCount(context_.layout)) return;
  Pass(channel, activations_, number + 1, action.micro_batch, std::move(tensor));
}

void PipelineExecutor::RunBackward(const Action& action) {
  Stage& stage = *stages_[action.chunk];
  const int32_t number = StageOfChunk(context_.layout, context_.coordinates.pp, action.chunk);
  PipelineChannel& channel = context_.groups.gradients;
  Drain(gradients_, open_sends_ - 1);
  at::Tensor gradient;
  if (number + 1 < StageCount(context_.layout)) {
    gradient = Take(channel, gradients_, number + 1, number, action.micro_batch);
  }
  {
    const ScopedAction recorded(context_.recorder, action);
    const ScopedPadding padded(padding_, action.kind);
    if (action.kind == ActionKind::kBackward) {
      gradient = stage.Backward(action.micro_batch, std::move(gradient));
      --in_flight_;
    } else {
      gradient = stage.BackwardInput(action.micro_batch, std::move(gradient));
    }
  }
  if (number == 0) return;
  Pass(channel, gradients_, number - 1, action.micro_batch, std::move(gradient));
}

}  // namespace meshwright
