#include "executor/worker/run/pipeline_executor.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "planner/schedule/placement.h"

namespace meshwright::worker {
namespace {

// Only activations and gradients pass between chunks, whatever part of the backward makes a
// gradient.
planner::ActionKind MessageKind(const planner::Action& action) {
  return action.kind == planner::ActionKind::kForward ? planner::ActionKind::kForward
                                                      : planner::ActionKind::kBackward;
}

}  // namespace

void PipelineExecutor::Run(const TokenSource& tokens) {
  for (const planner::Instruction& instruction : plan_) Run(instruction, tokens);
}

void PipelineExecutor::Run(const planner::Instruction& instruction, const TokenSource& tokens) {
  const int32_t index = instruction.action;
  switch (instruction.kind) {
    case planner::InstructionKind::kPostReceive:
      return PostReceive(index);
    case planner::InstructionKind::kAwaitReceive: {
      Receive receive = std::move(receives_.extract(index).mapped());
      receive.pending.Wait();
      received_ = std::move(receive.tensor);
      return;
    }
    case planner::InstructionKind::kCompute:
      return Compute(actions_[static_cast<size_t>(index)], tokens);
    case planner::InstructionKind::kAwaitSend:
      sends_.extract(index).mapped().Wait();
      return;
    case planner::InstructionKind::kSend:
      return Send(index);
  }
}

PipelineChannel& PipelineExecutor::ChannelOf(const planner::Action& action) {
  const bool forward = action.kind == planner::ActionKind::kForward;
  return forward ? context_.groups.activations : context_.groups.gradients;
}

void PipelineExecutor::PostReceive(int32_t index) {
  const planner::Action& action = actions_[static_cast<size_t>(index)];
  const planner::MessageEnd from =
      planner::InputOf(context_.layout, context_.coordinates.pp, action);
  Receive& receive = receives_[index];
  receive.tensor = at::empty({context_.stream_tokens(), context_.model.hidden}, context_.options());
  Communicator& lane = *ChannelOf(action).Towards(from.way == planner::Way::kDown).incoming;
  receive.pending = lane.Receive(receive.tensor, kLaneSender);
}

void PipelineExecutor::Send(int32_t index) {
  const planner::Action& action = actions_[static_cast<size_t>(index)];
  const planner::MessageEnd to =
      planner::OutputOf(context_.layout, context_.coordinates.pp, action);
  Communicator& lane = *ChannelOf(action).Towards(to.way == planner::Way::kUp).outgoing;
  sends_[index] = lane.Send(std::exchange(computed_, at::Tensor()), kLaneReceiver);
}

void PipelineExecutor::Compute(const planner::Action& action, const TokenSource& tokens) {
  const int32_t rank = context_.coordinates.pp;
  const int32_t number = planner::StageOfChunk(context_.layout, rank, action.chunk);
  at::Tensor input = std::exchange(received_, at::Tensor());
  if (planner::InputOf(context_.layout, rank, action).way == planner::Way::kOwn) {
    const auto key = std::tuple(MessageKind(action), number, action.micro_batch);
    input = std::move(handed_over_.extract(key).mapped());
  }
  at::Tensor output = ComputeOn(*stages_[action.chunk], action, std::move(input), tokens);
  const planner::MessageEnd to = planner::OutputOf(context_.layout, rank, action);
  if (to.on_lane()) {
    computed_ = std::move(output);
  } else if (to.way == planner::Way::kOwn) {
    handed_over_.emplace(std::tuple(MessageKind(action), to.stage, action.micro_batch),
                         std::move(output));
  }
}

at::Tensor PipelineExecutor::ComputeOn(Stage& stage, const planner::Action& action,
                                       at::Tensor input, const TokenSource& tokens) {
  if (action.kind == planner::ActionKind::kForward) {
    peak_in_flight_ = std::max(peak_in_flight_, ++in_flight_);
  }
  const ScopedAction recorded(context_.recorder, action);
  const ScopedPadding padded(padding_, action.kind);
  switch (action.kind) {
    case planner::ActionKind::kForward:
      return stage.Forward(action.micro_batch, std::move(input), tokens);
    case planner::ActionKind::kBackward:
      --in_flight_;
      return stage.Backward(action.micro_batch, std::move(input));
    case planner::ActionKind::kBackwardInput:
      return stage.BackwardInput(action.micro_batch, std::move(input));
    case planner::ActionKind::kBackwardWeight:
      --in_flight_;
      stage.BackwardWeight(action.micro_batch);
      return {};
    case planner::ActionKind::kVocabularyForward:
    case planner::ActionKind::kVocabularyBackward:
      break;  // CheckRules() refuses schedules that divide the vocabulary
  }
  return {};
}

}  // namespace meshwright::worker
