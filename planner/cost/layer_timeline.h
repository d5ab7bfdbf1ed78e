// Divides the time of one transformer layer, for one micro-batch on one rank, among the operators
// of its block.
//
// Field by field, the entries add up to EstimateLayer() or, for a layer that is recomputed as a
// whole, to Recomputed().
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "planner/block/recompute.h"
#include "planner/cost/layer_time.h"
#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// An operator's time. Compute may hide a share of a layer's collectives; the operators with
// collectives share what remains in proportion to the time that each collective takes alone.
struct OperatorTime {
  std::string_view name;  // NameOf(OperatorName), or kHostWait
  std::string_view kind;  // of the OperatorKind, such as "matmul", or kHostWait
  LayerTime time;
};

// The name of the entry for the time that the device waits for the host.
inline constexpr std::string_view kHostWait = "host";

// Returns the operators of a layer of shape `shape` (EstimateContext::shapes) in the order of the
// forward, with the wait for the host as the last entry. Operators of the same name, such as a
// product and its adapter, are one entry. Operators that take no time have none. REQUIRES:
// `recompute` is RecomputeOf() of a layer of the layout.
std::vector<OperatorTime> LayerTimeline(const StepShape& step, size_t shape,
                                        const LayerRecompute& recompute);

}  // namespace meshwright::planner
