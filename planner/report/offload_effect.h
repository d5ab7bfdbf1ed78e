// Computes what a layout moves to the hosts' memory and what that costs, for its explanation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/profile/context.h"
#include "planner/search/ranked_layout.h"

namespace meshwright::planner {

// Figures of the devices that move the most.
struct OffloadEffect {
  int64_t moved_bytes = 0;        // activations of a micro-batch, to the host and back
  int64_t update_bytes = 0;       // gradients to the host and weights back, per step
  double link_bytes_per_s = 0.0;  // the rate at which a device copies
  double exposed_s = 0.0;         // seconds of a step
  int64_t host_bytes = 0;         // of one device, in its host's memory
  std::string sentence;

  friend bool operator==(const OffloadEffect&, const OffloadEffect&) = default;
};

// Returns the effect for a layout that CheckLayout() accepts, with its estimate; nullopt where it
// moves nothing.
std::optional<OffloadEffect> OffloadEffectOf(const EstimateContext& context,
                                             const RankedLayout& ranked);

}  // namespace meshwright::planner
