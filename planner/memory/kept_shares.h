// Of the activations that a rank keeps at its peak, how much is the experts' and latent
// attention's.
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
