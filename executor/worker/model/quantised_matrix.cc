#include "executor/worker/model/quantised_matrix.h"

#include <ATen/ops/empty.h>

#include "planner/block/scale_tiles.h"

namespace meshwright::worker {
namespace {

// REQUIRES: `to` is allocated.
void QuantiseInto(const RankContext& context, const at::Tensor& x, const QuantisedMatrix& to) {
  context.device->kernels().Run(kernels::Quantise{.type = context.element(),
                                                  .tiles = to.tiles,
                                                  .rows = x.size(0),
                                                  .columns = x.size(1),
                                                  .x = x.const_data_ptr(),
                                                  .x_stride = x.stride(0),
                                                  .values = to.values.mutable_data_ptr<uint8_t>(),
                                                  .scales = to.scales.mutable_data_ptr<float>()});
}

QuantisedMatrix Empty(const RankContext& context, kernels::ScaleTiles tiles, const at::Tensor& x,
                      const kernels::ScaleShape& scales) {
  return {.tiles = tiles,
          .values = at::empty(x.sizes(), context.options_of(at::kByte)),
          .scales = at::empty({scales.rows, scales.columns}, context.options_of(at::kFloat))};
}

}  // namespace

QuantisedMatrix Quantised(const RankContext& context, const at::Tensor& x,
                          kernels::ScaleTiles tiles) {
  QuantisedMatrix matrix = Empty(context, tiles, x, kernels::ScalesOf(tiles, x.size(0), x.size(1)));
  QuantiseInto(context, x, matrix);
  return matrix;
}

QuantisedMatrix QuantisedByGroup(const RankContext& context, const at::Tensor& x,
                                 const RowGroups& groups) {
  const auto group_count = static_cast<int64_t>(groups.size());
  QuantisedMatrix matrix =
      Empty(context, kernels::ScaleTiles::kColumns, x,
            {.rows = planner::TileRowsOf(x.size(0), group_count), .columns = x.size(1)});
  int64_t first = 0;
  int64_t first_tile = 0;
  for (const int64_t count : groups) {
    if (count == 0) continue;
    QuantiseInto(context, x.narrow(0, first, count), GroupOf(matrix, first, count, first_tile));
    first += count;
    first_tile += planner::ScaleTilesIn(count);
  }
  return matrix;
}

QuantisedMatrix RowsOf(const QuantisedMatrix& matrix, int64_t first, int64_t count) {
  return {.tiles = matrix.tiles,
          .values = matrix.values.narrow(0, first, count),
          .scales = matrix.scales.narrow(1, first, count)};
}

QuantisedMatrix GroupOf(const QuantisedMatrix& matrix, int64_t first, int64_t count,
                        int64_t first_tile) {
  return {.tiles = matrix.tiles,
          .values = matrix.values.narrow(0, first, count),
          .scales = matrix.scales.narrow(0, first_tile, planner::ScaleTilesIn(count))};
}

}  // namespace meshwright::worker
