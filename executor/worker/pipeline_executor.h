// Runs one step's schedule list on a pipeline rank: computes what the list says, in its order, and
// passes activations and gradients to the neighbouring stages as the stage rule demands
// (planner/schedule/placement.h). It knows no schedule.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "executor/worker/action_padding.h"
#include "executor/worker/rank_context.h"
#include "executor/worker/stage.h"
#include "executor/worker/token_source.h"
#include "planner/schedule/schedule.h"

namespace meshwright {

class PipelineExecutor {
 public:
  // `stages` are this rank's chunks. Both outlive it. Before every action that may send, fewer than
  // `open_sends` messages of its kind to each rank are left open.
  PipelineExecutor(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages,
                   int32_t open_sends)
      : context_(context), stages_(stages), open_sends_(open_sends) {}

  // From now on actions take at least so long.
  void PadActions(const ActionPadding& padding) { padding_ = padding; }

  // Returns when all actions are done and everything was sent.
  void Run(const std::vector<Action>& actions, const TokenSource& tokens);

  // Most micro-batches (of all chunks) that were between forward and backward so far.
  int32_t peak_in_flight() const { return peak_in_flight_; }

 private:
  // Messages of one kind on their way from this rank. How long each holds its tensor depends on
  // this rank's own actions alone, which makes peak memory independent of the neighbours' pace.
  struct Outbox {
    std::deque<Pending> up;  // to a higher rank
    std::deque<Pending> down;
    // By receiving stage and micro-batch: between two chunks of this rank nothing is sent.
    std::map<std::pair<int32_t, int32_t>, at::Tensor> handed_over;
  };

  void RunForward(const Action& action, const TokenSource& tokens);
  void RunBackward(const Action& action);
  // Waits until at most `count` messages to each rank are open.
  static void Drain(Outbox& outbox, size_t count);
  at::Tensor Take(PipelineChannel& channel, Outbox& outbox, int32_t from_stage, int32_t to_stage,
                  int32_t micro_batch);
  void Pass(PipelineChannel& channel, Outbox& outbox, int32_t to_stage, int32_t micro_batch,
            at::Tensor tensor);

  RankContext& context_;
  const std::vector<std::unique_ptr<Stage>>& stages_;
  const int32_t open_sends_;
  ActionPadding padding_;
  Outbox activations_;
  Outbox gradients_;
  int32_t in_flight_ = 0;
  int32_t peak_in_flight_ = 0;
};

}  // namespace meshwright
