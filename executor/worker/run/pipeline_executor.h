// PipelineExecutor runs one step's list of actions on a pipeline rank: it computes the actions and
// exchanges activations and gradients with neighbouring stages, in the order that
// planner/schedule/messages.h plans for the list. It works for any schedule.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "executor/worker/model/stage.h"
#include "executor/worker/model/token_source.h"
#include "executor/worker/run/action_padding.h"
#include "executor/worker/state/rank_context.h"
#include "planner/schedule/messages.h"
#include "planner/schedule/schedule.h"

namespace meshwright::worker {

class PipelineExecutor {
 public:
  // `stages` are this rank's chunks, and `actions` is its list of actions. At most `open_sends`
  // sends per lane are unfinished at a time. REQUIRES: all references outlive this object.
  PipelineExecutor(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages,
                   const std::vector<planner::Action>& actions, int32_t open_sends)
      : context_(context),
        stages_(stages),
        actions_(actions),
        plan_(planner::PlanMessages(context.layout, context.coordinates.pp, actions, open_sends)) {}

  // Makes later actions take at least the given times.
  void PadActions(const ActionPadding& padding) { padding_ = padding; }

  // Returns when all actions are done and everything was sent.
  void Run(const TokenSource& tokens);

  // Returns the largest number of micro-batches, summed over all chunks, that were between forward
  // and backward at one time so far.
  int32_t peak_in_flight() const { return peak_in_flight_; }

 private:
  struct Receive {
    at::Tensor tensor;
    Pending pending;
  };

  void Run(const planner::Instruction& instruction, const TokenSource& tokens);
  void PostReceive(int32_t index);
  void Send(int32_t index);
  void Compute(const planner::Action& action, const TokenSource& tokens);
  at::Tensor ComputeOn(Stage& stage, const planner::Action& action, at::Tensor input,
                       const TokenSource& tokens);
  PipelineChannel& ChannelOf(const planner::Action& action);

  RankContext& context_;
  const std::vector<std::unique_ptr<Stage>>& stages_;
  const std::vector<planner::Action>& actions_;
  const std::vector<planner::Instruction> plan_;
  ActionPadding padding_;
  // By the action's index in the list. A send keeps its tensor until this rank waits for it, even
  // if it was done earlier, so that peak memory does not depend on the neighbours' pace.
  std::map<int32_t, Receive> receives_;
  std::map<int32_t, Pending> sends_;
  // Tensors that one chunk of this rank passes to another chunk of this rank without a message, by
  // kind, receiving stage and micro-batch.
  std::map<std::tuple<planner::ActionKind, int32_t, int32_t>, at::Tensor> handed_over_;
  at::Tensor received_;  // for the next action to compute
  at::Tensor computed_;  // by the action whose result is sent next
  int32_t in_flight_ = 0;
  int32_t peak_in_flight_ = 0;
};

}  // namespace meshwright::worker
