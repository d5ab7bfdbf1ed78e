// Runs one step's schedule list on a pipeline rank: computes what the list says, in its order, and
// exchanges activations and gradients with the neighbouring stages as the stage rule demands
// (planner/schedule/schedule.h). It knows no schedule.
#pragma once

#include <memory>
#include <vector>

#include "executor/worker/rank_context.h"
#include "executor/worker/stage.h"
#include "executor/worker/token_source.h"
#include "planner/schedule/schedule.h"

namespace meshwright {

class PipelineExecutor {
 public:
  // `stages` are this rank's chunks. Both outlive it.
  PipelineExecutor(RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages)
      : context_(context), stages_(stages) {}

  // Returns when all actions are done and everything was sent.
  void Run(const std::vector<Action>& actions, const TokenSource& tokens);

  // Most micro-batches (of all chunks) that were between forward and backward so far.
  int32_t peak_in_flight() const { return peak_in_flight_; }

 private:
  void RunForward(const Action& action, const TokenSource& tokens);
  void RunBackward(const Action& action);
  at::Tensor ReceiveFrom(Communicator& communicator, int32_t stage);
  // Stage number of a chunk, and the pipeline rank that holds a stage.
  int32_t StageNumber(int32_t chunk) const {
    return chunk * context_.layout.pp + context_.coordinates.pp;
  }
  int32_t HolderOf(int32_t stage) const { return stage % context_.layout.pp; }

  RankContext& context_;
  const std::vector<std::unique_ptr<Stage>>& stages_;
  // The last message in each direction. It holds its tensor until the next action of that direction
  // begins, which makes peak memory independent of the neighbours' pace.
  Pending activation_sent_;
  Pending gradient_sent_;
  int32_t in_flight_ = 0;
  int32_t peak_in_flight_ = 0;
};

}  // namespace meshwright
