// Pipeline schedules as data: for each pipeline rank the ordered list of what it computes.
//
// The worker executes exactly these lists; the planner derives micro-batches in flight from them.
// Sends and receives follow from the list: chunk j of pipeline rank r is stage j * pp + r; a
// forward takes its input from stage - 1 and feeds stage + 1, a backward the other way round.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/layout.h"

namespace meshwright {

// kBackward is both parts of a backward pass at once; schedules that split it emit
// kBackwardInput and, later, kBackwardWeight.
enum class ActionKind : uint8_t { kForward, kBackward, kBackwardInput, kBackwardWeight };

struct Action {
  ActionKind kind = ActionKind::kForward;
  int32_t micro_batch = 0;
  int32_t chunk = 0;

  friend bool operator==(const Action&, const Action&) = default;
};

// One-forward-one-backward (PipeDream-flush): rank r of p warms up with min(m, p - r - 1) forwards.
// Requires 0 <= rank < pipeline_ranks and micro_batches >= 1.
std::vector<Action> Schedule1f1b(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// The list of `rank` under the layout's schedule. Unimplemented for a schedule that has no
// generator.
absl::StatusOr<std::vector<Action>> MakeSchedule(const Layout& layout, int32_t rank,
                                                 int32_t micro_batches);

// Largest number of micro-batches whose forward has begun and whose backward has not ended.
int32_t PeakInFlight(const std::vector<Action>& actions);

}  // namespace meshwright
