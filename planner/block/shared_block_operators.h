// Lists the operators that exist only in a block whose weights several layers share (SharedBlock in
// planner/spec/model_spec.h): its first norm, over the concatenated hidden state and embedding;
// low-rank matrices of each layer's own beside its products; and the projection of its result.
#pragma once

#include <cstddef>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"

namespace meshwright::planner {

// Appends the norm, and the entry of its result to the products of attention.
void AddSharedEntry(const BlockShape& shape, OperatorList& operators);
// Append the low-rank matrices beside queries, keys and values, and beside the FFN's first product.
// REQUIRES: shape.shared_block.adapter_rank > 0.
void AddAttentionAdapters(const BlockShape& shape, OperatorList& operators);
void AddFfnAdapter(const BlockShape& shape, OperatorList& operators);
// Appends the projection of the block's result, and the addition to the recurrence's input. Every
// TP rank holds the matrix whole.
void AddSharedProjection(const BlockShape& shape, OperatorList& operators);

// Marks the parameters of the operators from index `first` on as borrowed
// (OperatorParameter::borrowed), except for the low-rank matrices.
void BorrowParameters(size_t first, OperatorList& operators);

}  // namespace meshwright::planner
