#include <algorithm>

#include "planner/schedule/generators.h"

namespace meshwright::planner {
namespace {

// One-forward-one-backward with `warm_up` forwards ahead and `held_back` weight gradients behind.
std::vector<Action> SplitOneFOneB(int32_t warm_up, int32_t held_back, int32_t micro_batches) {
  std::vector<Action> actions;
  actions.reserve(3 * static_cast<size_t>(micro_batches));
  int32_t forwards = 0;
  int32_t weights = 0;
  const auto forward = [&] { actions.push_back({ActionKind::kForward, forwards++, 0}); };
  const auto weight = [&] { actions.push_back({ActionKind::kBackwardWeight, weights++, 0}); };
  while (forwards < std::min(warm_up, micro_batches)) forward();
  for (int32_t i = 0; i < micro_batches; ++i) {
    if (forwards < micro_batches) forward();
    actions.push_back({ActionKind::kBackwardInput, i, 0});
    if (i >= held_back) weight();
  }
  while (weights < micro_batches) weight();
  return actions;
}

}  // namespace

// Rank r's last input gradient ends p - 1 - r input gradients before rank 0's does; r weight
// gradients held back keep it busy for the same time as rank 0.
std::vector<Action> ScheduleZbH1(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches) {
  return SplitOneFOneB(pipeline_ranks - rank - 1, rank, micro_batches);
}

// The first input gradient comes back to rank r after 2 (p - r) - 1 forwards' time at F = B, and
// each rank begins one forward after the one before it.
std::vector<Action> ScheduleZbH2(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches) {
  return SplitOneFOneB(2 * (pipeline_ranks - rank - 1), 2 * rank, micro_batches);
}

}  // namespace meshwright::planner
