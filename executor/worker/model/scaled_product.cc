#include "executor/worker/model/scaled_product.h"

#include <ATen/BlasBackend.h>
#include <ATen/ops/_scaled_mm_v2.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <optional>

#include "planner/block/scale_tiles.h"

namespace meshwright::worker {
namespace {

// cuBLASLt contracts multiples of 16.
constexpr int64_t kContractedMultiple = 16;

// Arguments for at::_scaled_mm_v2: values [outer, contracted], and scales whose neighbours along
// the outer dimension are adjacent; for blocks [tiles contracted, tiles outer], transposed.
struct DeviceFactor {
  at::Tensor values;
  at::Tensor scales;
  at::blas::ScalingType scaling;
};

// [contracted, outer] -> [outer, contracted], zero-padded at the end.
at::Tensor Transposed(const at::Tensor& values) {
  const int64_t contracted = values.size(0);
  const int64_t padded =
      (contracted + kContractedMultiple - 1) / kContractedMultiple * kContractedMultiple;
  if (padded == contracted) return values.t().contiguous();
  at::Tensor transposed = at::zeros({values.size(1), padded}, values.options());
  transposed.narrow(1, 0, contracted).copy_(values.t());
  return transposed;
}

DeviceFactor OnDevice(const Factor& factor) {
  const QuantisedMatrix& matrix = factor.matrix;
  const bool blocks = matrix.tiles == kernels::ScaleTiles::kBlocks;
  DeviceFactor made = {
      .values = factor.contracts_columns ? matrix.values : Transposed(matrix.values),
      .scales = matrix.scales.contiguous().t(),
      .scaling =
          blocks ? at::blas::ScalingType::BlockWise128x128 : at::blas::ScalingType::BlockWise1x128};
  if (blocks && !factor.contracts_columns) {
    const int64_t tiles = planner::ScaleTilesIn(factor.contracted());
    const at::Tensor scales = at::zeros(
        {planner::ScaleTilesIn(factor.outer()), (tiles + 3) / 4 * 4}, matrix.scales.options());
    scales.narrow(1, 0, tiles)
        .copy_(matrix.scales.narrow(1, 0, planner::ScaleTilesIn(factor.outer())).t());
    made.scales = scales.t();
  }
  made.values = made.values.view(at::kFloat8_e4m3fn);
  return made;
}

void MultiplyOnDevice(at::Tensor result, const Factor& a, const Factor& b) {
  const DeviceFactor left = OnDevice(a);
  const DeviceFactor right = OnDevice(b);
  const int64_t plain = static_cast<int64_t>(at::blas::SwizzleType::NO_SWIZZLE);
  const auto left_scaling = static_cast<int64_t>(left.scaling);
  const auto right_scaling = static_cast<int64_t>(right.scaling);
  at::_scaled_mm_v2_out(result, left.values, right.values.t(), left.scales, left_scaling, plain,
                        right.scales, right_scaling, plain, std::nullopt, result.scalar_type());
}

}  // namespace

ScaledProduct::ScaledProduct(const RankContext& context, int64_t rows, int64_t columns,
                             int64_t contracted)
    : context_(context), pieces_(rows, columns, contracted) {
  if (!context.device->torch_device().is_cpu()) return;
  scratch_ = at::empty({pieces_.elements()}, context.options_of(context.accumulator_dtype()));
}

at::Tensor ScaledProduct::Widened(const Factor& factor, int64_t first, int64_t count,
                                  const at::Tensor& place) const {
  const QuantisedMatrix& matrix = factor.matrix;
  const int64_t contracted = factor.contracted();
  const bool by_rows = factor.contracts_columns;
  at::Tensor wide = place.narrow(0, 0, count * contracted)
                        .view({by_rows ? count : contracted, by_rows ? contracted : count});
  context_.device->kernels().Run(
      kernels::Dequantise{.type = context_.accumulator_element(),
                          .tiles = matrix.tiles,
                          .first_row = by_rows ? first : 0,
                          .first_column = by_rows ? 0 : first,
                          .rows = wide.size(0),
                          .columns = wide.size(1),
                          .values = matrix.values.const_data_ptr<uint8_t>(),
                          .value_stride = matrix.values.stride(0),
                          .scales = matrix.scales.const_data_ptr<float>(),
                          .scale_stride = matrix.scales.stride(0),
                          .y = wide.mutable_data_ptr()});
  return by_rows ? wide : wide.t();
}

template <typename Body>
void ScaledProduct::ForPieces(const Factor& a, const Factor& b, const Body& body) const {
  const int64_t a_elements = pieces_.row_count * pieces_.depth;
  const int64_t b_elements = pieces_.column_count * pieces_.depth;
  const at::Tensor a_place = scratch_.narrow(0, 0, a_elements);
  const at::Tensor b_place = scratch_.narrow(0, a_elements, b_elements);
  const at::Tensor product_place =
      scratch_.narrow(0, a_elements + b_elements, pieces_.row_count * pieces_.column_count);
  for (int64_t column = 0; column < b.outer(); column += pieces_.column_count) {
    const int64_t columns = std::min(pieces_.column_count, b.outer() - column);
    const at::Tensor b_piece = Widened(b, column, columns, b_place);
    for (int64_t row = 0; row < a.outer(); row += pieces_.row_count) {
      const int64_t rows = std::min(pieces_.row_count, a.outer() - row);
      at::Tensor product = product_place.narrow(0, 0, rows * columns).view({rows, columns});
      at::mm_out(product, Widened(a, row, rows, a_place), b_piece.t());
      body(row, column, product);
    }
  }
}

void ScaledProduct::Into(const at::Tensor& result, const Factor& a, const Factor& b) const {
  if (!scratch_.defined()) {
    MultiplyOnDevice(result, a, b);
    return;
  }
  ForPieces(a, b, [&](int64_t row, int64_t column, const at::Tensor& product) {
    result.narrow(0, row, product.size(0)).narrow(1, column, product.size(1)).copy_(product);
  });
}

void ScaledProduct::Into(const MatrixGradient& gradient, const Factor& a, const Factor& b) const {
  if (!scratch_.defined()) {
    if (gradient.empty) {
      MultiplyOnDevice(gradient.values, a, b);
      return;
    }
    const at::Tensor product = at::empty(gradient.values.sizes(), gradient.values.options());
    MultiplyOnDevice(product, a, b);
    gradient.values.add_(product);
    return;
  }
  ForPieces(a, b, [&](int64_t row, int64_t column, const at::Tensor& product) {
    const at::Tensor place =
        gradient.values.narrow(0, row, product.size(0)).narrow(1, column, product.size(1));
    if (gradient.empty) {
      place.copy_(product);
    } else {
      place.add_(product);
    }
  });
}

}  // namespace meshwright::worker
