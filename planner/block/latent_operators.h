// The projections of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1) as
// operators of a block.
//
// The hidden state is projected down to two narrow latents, of queries and of keys and values, and
// to the rotated part of the key that all heads share. TP ranks hold copies of these projections
// and run them on their share of the tokens; what they exchange is as wide as the latents. The
// projections out of the latents are divided by heads.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the operators between the norm before attention and RoPE. Requires `shape.is_latent()`.
void AddLatentProjections(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner
