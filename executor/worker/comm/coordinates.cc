#include "executor/worker/comm/coordinates.h"

#include "planner/layout/mesh.h"

namespace meshwright::worker {

RankCoordinates CoordinatesOf(const planner::Layout& layout, int32_t rank) {
  const planner::Mesh mesh(layout);
  return {.tp = mesh.PlaceOf(rank, planner::Axis::kTp),
          .cp = mesh.PlaceOf(rank, planner::Axis::kCp),
          .dp = mesh.PlaceOf(rank, planner::Axis::kDp),
          .pp = mesh.PlaceOf(rank, planner::Axis::kPp)};
}

}  // namespace meshwright::worker
