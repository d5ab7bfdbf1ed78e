// Lists the operators of DeepSeek-V4's attention. All heads share one key, which is the value too.
// A query sees the newest keys of a window. Older tokens are represented by compressed keys, one
// for every `compress_ratio` tokens. Of these keys the query sees all, or those that an index
// picks.
//
// Parameters are counted as in transformers 5.24, and FLOPs as in Megatron-Bridge.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the operators from the norm's output to the input of the residual addition.
// REQUIRES: attention of kind kCompressed.
void AddCompressedAttention(const BlockShape& shape, OperatorList& operators);

}  // namespace meshwright::planner
