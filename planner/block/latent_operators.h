// Lists the projections of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1)
// as operators of a block.
//
// The hidden state is projected down to two narrow latents, one of queries and one of keys and
// values, and to the rotated part of the key, which all heads share. Every TP rank holds a whole
// copy of these projections and applies it to its share of the tokens. The ranks therefore exchange
// only narrow tensors: the latents and the rotated part. The projections out of the latents are
// divided by heads.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the operators between the norm before attention and RoPE. REQUIRES: shape.is_latent().
void AddLatentProjections(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner
