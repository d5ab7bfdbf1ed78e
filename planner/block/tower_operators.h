// Lists the operators of a tower (planner/spec/tower.h) on one rank. A tower has blocks, which are
// transformer blocks whose tokens are patches, and further operators before and after the blocks.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"
#include "planner/spec/tower.h"

namespace meshwright::planner {

// Returns the shape of a tower's block for one patch, undivided. Each patch sees all patches of its
// image, and there are as many key heads as query heads.
BlockShape TowerBlockShape(const Tower& tower, const TrainedParts& parts = {});

// Returns whether `tp` ranks can share the tower's blocks. If not, every rank runs all of them, as
// under Megatron-LM.
bool DividesTower(const Tower& tower, int64_t tp);

// Returns the operators before and after the blocks: the product over patches, the norms outside
// of the blocks, and the projector, which works on `tokens` tokens of the language model. `patches`
// is the shape of a block on the same rank. Every rank holds these operators whole. The projector
// keeps the inputs of its products; the kept tensors of its activation are left out. The projector
// trains like a head under patches.training.
OperatorList TowerEndOperators(const Tower& tower, const BlockShape& patches, int64_t tokens);

}  // namespace meshwright::planner
