#include <algorithm>

#include "planner/schedule/generators.h"

namespace meshwright::planner {

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

}  // namespace meshwright::planner
