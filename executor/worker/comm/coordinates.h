// Where a rank stands in the layout, and with whom it communicates.
//
// Ranks are numbered with tp innermost, then cp, dp and pp: Megatron-LM's default order. Pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/layout/layout.h"

namespace meshwright::worker {

struct RankCoordinates {
  int32_t tp = 0;
  int32_t cp = 0;
  int32_t dp = 0;
  int32_t pp = 0;

  friend bool operator==(const RankCoordinates&, const RankCoordinates&) = default;
};

enum class Axis : uint8_t { kTp, kCp, kDp, kPp };

// Requires 0 <= rank < layout.devices().
RankCoordinates CoordinatesOf(const planner::Layout& layout, int32_t rank);
int32_t RankAt(const planner::Layout& layout, const RankCoordinates& coordinates);

// All ranks that differ from `rank` in `axis` alone, itself included, in the axis' order.
std::vector<int32_t> GroupOf(const planner::Layout& layout, int32_t rank, Axis axis);

// All ranks that hold the same part of the model as `rank`, itself included: those of other context
// and data parallel places. They see different tokens and sum their gradients.
std::vector<int32_t> ReplicasOf(const planner::Layout& layout, int32_t rank);

}  // namespace meshwright::worker
