#include <algorithm>

#include "planner/schedule/generators.h"

namespace meshwright::planner {

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

}  // namespace meshwright::planner
