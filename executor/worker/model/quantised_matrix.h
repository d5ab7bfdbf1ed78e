// QuantisedMatrix is a matrix of E4M3 numbers with fp32 scales per tile
// (kernels/quantise_operators.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

struct QuantisedMatrix {
  kernels::ScaleTiles tiles = kernels::ScaleTiles::kRows;
  at::Tensor values;  // [rows, columns], bytes
  at::Tensor scales;  // shaped as kernels::ScalesOf() says

  bool defined() const { return values.defined(); }
  void reset() { *this = {}; }
};

// The number of rows of a matrix that belong to each product: one number per expert of a rank, or a
// single number for all rows.
using RowGroups = std::vector<int64_t>;

// Returns x [rows, columns], which may be a view with dense rows, quantised into new tensors.
QuantisedMatrix Quantised(const RankContext& context, const at::Tensor& x,
                          kernels::ScaleTiles tiles);

// Returns x quantised in column tiles that start anew at each group's first row, since each group
// is contracted separately. The result has planner::TileRowsOf() rows of scales, even if the groups
// need fewer.
QuantisedMatrix QuantisedByGroup(const RankContext& context, const at::Tensor& x,
                                 const RowGroups& groups);

// Returns a view of the rows [first, first + count) of a matrix in row tiles.
QuantisedMatrix RowsOf(const QuantisedMatrix& matrix, int64_t first, int64_t count);
// Returns a view of a group's rows [first, first + count) in the result of QuantisedByGroup(). The
// group's scales begin at row `first_tile` of the scales.
QuantisedMatrix GroupOf(const QuantisedMatrix& matrix, int64_t first, int64_t count,
                        int64_t first_tile);

}  // namespace meshwright::worker
