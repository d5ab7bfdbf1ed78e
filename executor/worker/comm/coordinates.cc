#include "executor/worker/comm/coordinates.h"

namespace meshwright::worker {
namespace {

int32_t SizeOf(const planner::Layout& layout, Axis axis) {
  switch (axis) {
    case Axis::kTp:
      return layout.tp;
    case Axis::kCp:
      return layout.cp;
    case Axis::kDp:
      return layout.dp;
    case Axis::kPp:
      return layout.pp;
  }
  return 1;
}

int32_t& CoordinateOf(RankCoordinates& coordinates, Axis axis) {
  switch (axis) {
    case Axis::kTp:
      return coordinates.tp;
    case Axis::kCp:
      return coordinates.cp;
    case Axis::kDp:
      return coordinates.dp;
    case Axis::kPp:
      break;
  }
  return coordinates.pp;
}

}  // namespace

RankCoordinates CoordinatesOf(const planner::Layout& layout, int32_t rank) {
  RankCoordinates coordinates;
  for (const Axis axis : {Axis::kTp, Axis::kCp, Axis::kDp, Axis::kPp}) {
    CoordinateOf(coordinates, axis) = rank % SizeOf(layout, axis);
    rank /= SizeOf(layout, axis);
  }
  return coordinates;
}

int32_t RankAt(const planner::Layout& layout, const RankCoordinates& c) {
  return ((c.pp * layout.dp + c.dp) * layout.cp + c.cp) * layout.tp + c.tp;
}

std::vector<int32_t> GroupOf(const planner::Layout& layout, int32_t rank, Axis axis) {
  RankCoordinates coordinates = CoordinatesOf(layout, rank);
  std::vector<int32_t> ranks;
  for (int32_t i = 0; i < SizeOf(layout, axis); ++i) {
    CoordinateOf(coordinates, axis) = i;
    ranks.push_back(RankAt(layout, coordinates));
  }
  return ranks;
}

std::vector<int32_t> ReplicasOf(const planner::Layout& layout, int32_t rank) {
  RankCoordinates coordinates = CoordinatesOf(layout, rank);
  std::vector<int32_t> ranks;
  for (coordinates.dp = 0; coordinates.dp < layout.dp; ++coordinates.dp) {
    for (coordinates.cp = 0; coordinates.cp < layout.cp; ++coordinates.cp) {
      ranks.push_back(RankAt(layout, coordinates));
    }
  }
  return ranks;
}

}  // namespace meshwright::worker
