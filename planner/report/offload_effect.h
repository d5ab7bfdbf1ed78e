// Computes what a layout moves to the hosts' memory and what the offload costs, for the explanation
// of the layout (planner/report/explain.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/profile/context.h"
#include "planner/search/ranked_layout.h"

namespace meshwright::planner {

// Each figure is the largest over all devices.
struct OffloadEffect {
  // Bytes of a micro-batch's activations that go to the host and back.
  int64_t moved_bytes = 0;
  int64_t update_bytes = 0;       // bytes of gradients to the host plus weights back, per step
  double link_bytes_per_s = 0.0;  // rate at which a device copies to or from the host
  double exposed_s = 0.0;         // seconds of a step's copies that nothing hides
  int64_t host_bytes = 0;         // host memory that one device fills
  std::string sentence;

  friend bool operator==(const OffloadEffect&, const OffloadEffect&) = default;
};

// Returns the effect, or nullopt if the layout moves nothing.
// REQUIRES: CheckLayout() accepts the layout, and the estimate is the one under `context`.
std::optional<OffloadEffect> OffloadEffectOf(const EstimateContext& context,
                                             const RankedLayout& ranked);

}  // namespace meshwright::planner
