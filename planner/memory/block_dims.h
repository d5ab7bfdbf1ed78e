// Shape of a model's blocks under a layout.
#pragma once

#include "planner/layout/layout.h"
#include "planner/memory/block_tensors.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Of a block of `group` for one micro-batch on one rank.
BlockDims BlockDimsOf(const EstimateContext& context, const Layout& layout,
                      const LayerGroup& group);

}  // namespace meshwright::planner
