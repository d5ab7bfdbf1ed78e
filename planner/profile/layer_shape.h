// Computes the shape of a layer, and of the embedding and the head, as one rank of a layout runs
// them under a framework.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/workspace.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Returns the shape of a layer of `group` whose training is `training`. The shape also serves for
// the embedding and the head, which do not depend on the group.
BlockShape LayerShape(const EstimateContext& context, const Layout& layout, const LayerGroup& group,
                      UnitTraining training = UnitTraining::kTrained);

// Returns the shape of a tower's block. The block works in bf16 or wider, even if a recipe
// quantises its products. Each context-parallel rank runs it on all images of a micro-batch,
// because context parallelism divides only the text. Tensor parallelism divides the block if
// DividesTower() says so.
BlockShape TowerLayerShape(const EstimateContext& context, const Layout& layout,
                           const Tower& tower);

// Returns the rates of the bytes that a framework's backward holds in addition to kept activations.
WorkspaceRates WorkspaceRatesOf(const FrameworkProfile& profile);

// Returns whether the layout's attention keeps its score matrix for the backward. Flash kernels
// don't.
bool KeepsScores(const FrameworkProfile& profile, const Layout& layout);

// Returns the number of ranks that divide the embedding and the head (BlockShape::vocab_ranks()).
int64_t VocabRanks(const Layout& layout);
// Returns the size of the vocabulary after the framework's padding for these ranks.
int64_t PaddedVocab(const EstimateContext& context, const Layout& layout);

}  // namespace meshwright::planner
