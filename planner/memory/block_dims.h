// The shape of a layer's block on one rank of a layout.
#pragma once

#include "planner/layout/layout.h"
#include "planner/memory/block_tensors.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Shape of a block of `group` for one micro-batch on one rank.
BlockDims BlockDimsOf(const EstimateContext& context, const Layout& layout,
                      const LayerGroup& group);

}  // namespace meshwright::planner
