// A matrix of E4M3 numbers with fp32 scales of its tiles (kernels/quantise_operators.h).
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

// How many rows each of the products has that share out a matrix's rows: the experts' of a rank, or
// one with all of them.
using RowGroups = std::vector<int64_t>;

// x [rows, columns], a view with dense rows. Allocates the result.
QuantisedMatrix Quantised(const RankContext& context, const at::Tensor& x,
                          kernels::ScaleTiles tiles);

// The same in tiles of columns that begin anew with each group's rows, as they are contracted group
// by group. There are planner::TileRowsOf() rows of scales, however many the groups fill.
QuantisedMatrix QuantisedByGroup(const RankContext& context, const at::Tensor& x,
                                 const RowGroups& groups);

// Views of the rows [first, first + count) of a matrix in tiles of rows; and of a group's rows in a
// matrix that QuantisedByGroup() made, whose scales begin at `first_tile`.
QuantisedMatrix RowsOf(const QuantisedMatrix& matrix, int64_t first, int64_t count);
QuantisedMatrix GroupOf(const QuantisedMatrix& matrix, int64_t first, int64_t count,
                        int64_t first_tile);

}  // namespace meshwright::worker
