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
  at::Tensor scales;  // kernels::ScalesOf()

  bool defined() const { return values.defined(); }
  void reset() { *this = {}; }
};

// Numbers of rows of the products that divide a matrix's rows: one per expert of a rank, or a
// single one with all rows.
using RowGroups = std::vector<int64_t>;

// x [rows, columns], a view with dense rows. Allocates the result.
QuantisedMatrix Quantised(const RankContext& context, const at::Tensor& x,
                          kernels::ScaleTiles tiles);

// The same in column tiles that start anew at each group's rows, as each group is contracted by
// itself. Has planner::TileRowsOf() rows of scales, however many the groups fill.
QuantisedMatrix QuantisedByGroup(const RankContext& context, const at::Tensor& x,
                                 const RowGroups& groups);

// Views of the rows [first, first + count) of a matrix in row tiles, and of a group's rows in the
// result of QuantisedByGroup(), whose scales begin at `first_tile`.
QuantisedMatrix RowsOf(const QuantisedMatrix& matrix, int64_t first, int64_t count);
QuantisedMatrix GroupOf(const QuantisedMatrix& matrix, int64_t first, int64_t count,
                        int64_t first_tile);

}  // namespace meshwright::worker
