#include "planner/schedule/generators.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "planner/schedule/v_half_block.h"

namespace meshwright::planner {
namespace {

// Emits the passes of two chunks, for each kind and chunk in the order of the micro-batches. Passes
// of micro-batches that do not exist are left out.
class TwoChunks {
 public:
  explicit TwoChunks(int32_t micro_batches) : micro_batches_(micro_batches) {
    actions_.reserve(6 * static_cast<size_t>(micro_batches));
  }

  void Forward(int32_t chunk) { Emit(ActionKind::kForward, chunk, forwards_); }
  void Input(int32_t chunk) { Emit(ActionKind::kBackwardInput, chunk, inputs_); }
  void Weight(int32_t chunk) { Emit(ActionKind::kBackwardWeight, chunk, weights_); }
  void Backward(int32_t chunk) {
    Input(chunk);
    Weight(chunk);
  }
  int32_t forwards(int32_t chunk) const { return forwards_[chunk]; }
  int32_t weights(int32_t chunk) const { return weights_[chunk]; }
  std::vector<Action> Take() { return std::move(actions_); }

 private:
  void Emit(ActionKind kind, int32_t chunk, std::array<int32_t, 2>& count) {
    const int32_t micro_batch = count[chunk]++;
    if (micro_batch < micro_batches_) actions_.push_back({kind, micro_batch, chunk});
  }

  int32_t micro_batches_;
  std::vector<Action> actions_;
  std::array<int32_t, 2> forwards_ = {};
  std::array<int32_t, 2> inputs_ = {};
  std::array<int32_t, 2> weights_ = {};
};

}  // namespace

// Breadth-first with a single chunk.
std::vector<Action> ScheduleGpipe(int32_t micro_batches) {
  return ScheduleBreadthFirst(/*chunks=*/1, micro_batches);
}

std::vector<Action> Schedule1f1b(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches) {
  const int32_t warm_up = std::min(micro_batches, pipeline_ranks - rank - 1);
  std::vector<Action> actions;
  actions.reserve(2 * static_cast<size_t>(micro_batches));
  int32_t forwards = 0;
  for (; forwards < warm_up; ++forwards) {
    actions.push_back({.kind = ActionKind::kForward, .micro_batch = forwards});
  }
  for (int32_t backwards = 0; backwards < micro_batches; ++backwards) {
    if (forwards < micro_batches) {
      actions.push_back({.kind = ActionKind::kForward, .micro_batch = forwards++});
    }
    actions.push_back({.kind = ActionKind::kBackward, .micro_batch = backwards});
  }
  return actions;
}

std::vector<Action> ScheduleInterleaved(int32_t pipeline_ranks, int32_t rank, int32_t chunks,
                                        int32_t micro_batches) {
  const int64_t p = pipeline_ranks;
  const int64_t v = chunks;
  const int64_t total = micro_batches * v;
  const int64_t warm_up = std::min(total, 2 * (p - rank - 1) + (v - 1) * p);

  // The k-th pass of a direction: groups of p micro-batches pass the chunks one after another.
  const auto micro_batch = [&](int64_t k) { return static_cast<int32_t>(k / (p * v) * p + k % p); };
  const auto chunk = [&](int64_t k) { return static_cast<int32_t>(k % (p * v) / p); };

  std::vector<Action> actions;
  actions.reserve(2 * static_cast<size_t>(total));
  int64_t forwards = 0;
  const auto forward = [&] {
    actions.push_back({ActionKind::kForward, micro_batch(forwards), chunk(forwards)});
    ++forwards;
  };
  while (forwards < warm_up) forward();
  for (int64_t k = 0; k < total; ++k) {
    if (forwards < total) forward();
    actions.push_back({ActionKind::kBackward, micro_batch(k), chunks - 1 - chunk(k)});
  }
  return actions;
}

std::vector<Action> ScheduleBreadthFirst(int32_t chunks, int32_t micro_batches) {
  std::vector<Action> actions;
  actions.reserve(2 * static_cast<size_t>(chunks) * static_cast<size_t>(micro_batches));
  for (int32_t chunk = 0; chunk < chunks; ++chunk) {
    for (int32_t i = 0; i < micro_batches; ++i) {
      actions.push_back({ActionKind::kForward, i, chunk});
    }
  }
  for (int32_t chunk = chunks - 1; chunk >= 0; --chunk) {
    for (int32_t i = 0; i < micro_batches; ++i) {
      actions.push_back({ActionKind::kBackward, i, chunk});
    }
  }
  return actions;
}

// Rank r's last input gradient ends p - 1 - r input gradients before rank 0's does; r weight
// gradients held back keep it busy for the same time as rank 0.
std::vector<Action> ScheduleZbH1(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches) {
  const int32_t warm_up = std::min(pipeline_ranks - rank - 1, micro_batches);
  std::vector<Action> actions;
  actions.reserve(3 * static_cast<size_t>(micro_batches));
  int32_t forwards = 0;
  int32_t weights = 0;
  const auto forward = [&] { actions.push_back({ActionKind::kForward, forwards++, 0}); };
  const auto weight = [&] { actions.push_back({ActionKind::kBackwardWeight, weights++, 0}); };
  while (forwards < warm_up) forward();
  for (int32_t i = 0; i < micro_batches; ++i) {
    if (forwards < micro_batches) forward();
    actions.push_back({ActionKind::kBackwardInput, i, 0});
    if (i >= rank) weight();
  }
  while (weights < micro_batches) weight();
  return actions;
}

std::vector<Action> ScheduleZbV(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches) {
  const int32_t after = pipeline_ranks - rank;  // ranks from this one to the turn of the V
  const int32_t planned = std::max(micro_batches, 2 * pipeline_ranks - 1);
  TwoChunks chunks(micro_batches);
  // A micro-batch needs 2 (p - r) - 1 forwards' time to the turn and back to this rank.
  for (int32_t i = 0; i < 2 * after - 1; ++i) chunks.Forward(0);
  // Until the first gradient comes from the head on rank 0, both arms of the V go forward.
  for (int32_t i = 0; i < rank; ++i) {
    chunks.Forward(1);
    chunks.Forward(0);
  }
  // The gradient goes up the second arm and down the first; it returns after p - r rounds.
  for (int32_t i = 0; i < after; ++i) {
    chunks.Forward(1);
    chunks.Backward(1);
  }
  while (chunks.forwards(1) < planned) {
    if (chunks.forwards(0) < planned) chunks.Forward(0);
    chunks.Backward(0);
    chunks.Forward(1);
    chunks.Backward(1);
  }
  // No forwards are left: weight gradients wait until the input gradients are on their way.
  for (int32_t i = 0; i < rank; ++i) {
    chunks.Input(0);
    chunks.Input(1);
  }
  for (int32_t i = 0; i < after; ++i) chunks.Backward(0);
  while (chunks.weights(1) < planned) chunks.Weight(1);
  while (chunks.weights(0) < planned) chunks.Weight(0);
  return chunks.Take();
}

std::vector<Action> ScheduleZbH2(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches) {
  return ScheduleZbH1(2 * pipeline_ranks - 1, 2 * rank, micro_batches);
}

// One micro-batch's block repeats every kTicks ticks. Passes of a rank never share a tick, so their
// times order them.
std::vector<Action> ScheduleVHalf(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches) {
  const VHalfBlock block(pipeline_ranks, rank);
  struct Pass {
    int64_t tick = 0;
    Action action;
  };
  std::vector<Pass> passes;
  passes.reserve(6 * static_cast<size_t>(micro_batches));
  for (int32_t i = 0; i < micro_batches; ++i) {
    const int64_t begin = int64_t{i} * VHalfBlock::kTicks;
    for (int32_t chunk = 0; chunk < 2; ++chunk) {
      const VHalfBlock::Chunk& ticks = block.chunk(chunk);
      passes.push_back({begin + ticks.forward, {ActionKind::kForward, i, chunk}});
      passes.push_back({begin + ticks.input, {ActionKind::kBackwardInput, i, chunk}});
      passes.push_back({begin + ticks.weight, {ActionKind::kBackwardWeight, i, chunk}});
    }
  }
  std::sort(passes.begin(), passes.end(),
            [](const Pass& a, const Pass& b) { return a.tick < b.tick; });
  std::vector<Action> actions;
  actions.reserve(passes.size());
  for (const Pass& pass : passes) actions.push_back(pass.action);
  return actions;
}

}  // namespace meshwright::planner
