// The shape of a layer and of the model's ends as one rank of a layout runs them under a framework.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// A layer of `group`. The ends do not depend on the group: any group's shape is theirs.
BlockShape LayerShape(const EstimateContext& context, const Layout& layout,
                      const LayerGroup& group);

// The vocabulary as the framework lays it out over `tp` ranks.
int64_t PaddedVocab(const EstimateContext& context, int32_t tp);

}  // namespace meshwright::planner
