#include <algorithm>
#include <array>

#include "planner/schedule/generators.h"

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

}  // namespace meshwright::planner
