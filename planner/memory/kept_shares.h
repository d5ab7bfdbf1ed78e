// Computes the shares of experts and of latent attention in the activations that a rank keeps at
// its peak.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/profile/context.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// Returns the parts of MemoryEstimate::activations_bytes of one device of `pipeline_rank`, as a
// framework's profile counts them (planner/memory/profile_memory.h). Requires a layout that
// CheckLayout() accepts.
KeptShares KeptSharesOnRank(const EstimateContext& context, const Layout& layout,
                            int32_t pipeline_rank);

}  // namespace meshwright::planner
