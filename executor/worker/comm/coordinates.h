// RankCoordinates is a rank's position on each axis of its layout. The worker numbers ranks in the
// default order of planner/layout/mesh.h.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"

namespace meshwright::worker {

struct RankCoordinates {
  int32_t tp = 0;
  int32_t cp = 0;
  int32_t dp = 0;
  int32_t pp = 0;

  friend bool operator==(const RankCoordinates&, const RankCoordinates&) = default;
};

// Returns the coordinates of global rank `rank`. REQUIRES: 0 <= rank < layout.devices().
RankCoordinates CoordinatesOf(const planner::Layout& layout, int32_t rank);

}  // namespace meshwright::worker
