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

// Passes of a rank and the times at which they are due. No two are due at the same time.
class DuePasses {
 public:
  explicit DuePasses(size_t count) { passes_.reserve(count); }

  void Add(int64_t due, ActionKind kind, int32_t micro_batch, int32_t chunk) {
    passes_.push_back({due, {kind, micro_batch, chunk}});
  }

  std::vector<Action> InOrder() {
    std::sort(passes_.begin(), passes_.end(),
              [](const Pass& a, const Pass& b) { return a.due < b.due; });
    std::vector<Action> actions;
    actions.reserve(passes_.size());
    for (const Pass& pass : passes_) actions.push_back(pass.action);
    return actions;
  }

 private:
  struct Pass {
    int64_t due = 0;
    Action action;
  };

  std::vector<Pass> passes_;
};

// Parts of a tick of VHalfBlock, so that the head's passes fit between two ticks.
constexpr int64_t kPerTick = 4;

void AddBlock(const VHalfBlock& block, int32_t micro_batch, DuePasses& passes) {
  const int64_t begin = int64_t{micro_batch} * VHalfBlock::kTicks;
  for (const int32_t chunk : {0, 1}) {
    const VHalfBlock::Chunk& ticks = block.chunk(chunk);
    passes.Add(kPerTick * (begin + ticks.forward), ActionKind::kForward, micro_batch, chunk);
    passes.Add(kPerTick * (begin + ticks.input), ActionKind::kBackwardInput, micro_batch, chunk);
    passes.Add(kPerTick * (begin + ticks.weight), ActionKind::kBackwardWeight, micro_batch, chunk);
  }
}

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

std::vector<Action> ScheduleVHalf(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches) {
  const VHalfBlock block(pipeline_ranks, rank);
  DuePasses passes(static_cast<size_t>(micro_batches) * 6);
  for (int32_t i = 0; i < micro_batches; ++i) AddBlock(block, i, passes);
  return passes.InOrder();
}

std::vector<Action> ScheduleVHalfVocabulary(int32_t pipeline_ranks, int32_t rank,
                                            int32_t micro_batches) {
  const VHalfBlock block(pipeline_ranks, rank, VHalfBlock::kVocabularyRounds);
  DuePasses passes(static_cast<size_t>(micro_batches) * 8);
  for (int32_t i = 0; i < micro_batches; ++i) {
    AddBlock(block, i, passes);
    // The head's passes come between the last tick of the forward and the next one.
    const int64_t loss = kPerTick * (block.loss() + int64_t{i} * VHalfBlock::kTicks) - 2;
    passes.Add(loss, ActionKind::kVocabularyForward, i, 1);
    passes.Add(loss + kPerTick * VHalfBlock::kTicks + 1, ActionKind::kVocabularyBackward, i, 1);
  }
  return passes.InOrder();
}

// A round is a forward and a whole backward, which takes twice as long; between neighbouring ranks
// a micro-batch moves a third of a round forward and two thirds backward.
std::vector<Action> ScheduleVocabulary1f1b(int32_t pipeline_ranks, int32_t rank,
                                           int32_t micro_batches, int32_t rounds_of_loss) {
  constexpr int64_t kThird = 4;  // room for the four kinds of passes that are due together
  constexpr int64_t kRound = 3 * kThird;
  const int64_t above = pipeline_ranks - 1 - rank;
  DuePasses passes(static_cast<size_t>(micro_batches) * 4);
  for (int32_t i = 0; i < micro_batches; ++i) {
    const int64_t loss = i * kRound;
    passes.Add(loss - above * kThird, ActionKind::kForward, i, 0);
    passes.Add(loss + 1, ActionKind::kVocabularyForward, i, 0);
    passes.Add(loss + kRound + 2, ActionKind::kVocabularyBackward, i, 0);
    passes.Add(loss + rounds_of_loss * kRound + 2 * above * kThird + 3, ActionKind::kBackward, i,
               0);
  }
  return passes.InOrder();
}

std::vector<Action> ScheduleInterlaced(int32_t pipeline_ranks, int32_t rank,
                                       int32_t micro_batches) {
  constexpr int64_t kRound = 5;  // S, T, then a forward and a backward in either order
  const int64_t above = pipeline_ranks - 1 - rank;
  const bool forward_first = above % 2 == 1;
  DuePasses passes(static_cast<size_t>(micro_batches) * 4);
  for (int32_t i = 0; i < micro_batches; ++i) {
    passes.Add((i - 1 - above / 2) * kRound + (forward_first ? 2 : 4), ActionKind::kForward, i, 0);
    passes.Add(i * kRound, ActionKind::kVocabularyForward, i, 0);
    passes.Add(i * kRound + 1, ActionKind::kVocabularyBackward, i, 0);
    passes.Add((i + above) * kRound + 3, ActionKind::kBackward, i, 0);
  }
  return passes.InOrder();
}

}  // namespace meshwright::planner
