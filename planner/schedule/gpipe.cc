#include "planner/schedule/generators.h"

namespace meshwright::planner {

// Breadth-first with a single chunk.
std::vector<Action> ScheduleGpipe(int32_t micro_batches) {
  return ScheduleBreadthFirst(/*chunks=*/1, micro_batches);
}

}  // namespace meshwright::planner
