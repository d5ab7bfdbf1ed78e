#include "planner/schedule/generators.h"

namespace meshwright::planner {

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

}  // namespace meshwright::planner
