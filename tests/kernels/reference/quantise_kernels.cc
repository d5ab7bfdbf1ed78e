// Reference definitions of the operators that quantise and dequantise.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/reference/elements.h"
#include "tests/kernels/reference/reference_kernels.h"

namespace meshwright::kernels {
namespace {

// Returns the index of an element's scale.
int64_t ScaleAt(ScaleTiles tiles, int64_t stride, int64_t row, int64_t column) {
  switch (tiles) {
    case ScaleTiles::kRows:
      return column / kScaleTile * stride + row;
    case ScaleTiles::kColumns:
      return row / kScaleTile * stride + column;
    case ScaleTiles::kBlocks:
      break;
  }
  return row / kScaleTile * stride + column / kScaleTile;
}

// Follows E4M3's definition: multiples of the spacing, ties to even.
uint8_t Rounded(double value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7f;
  const double magnitude = std::min(std::abs(value), 448.0);
  const int exponent = magnitude > 0.0 ? std::max(std::ilogb(magnitude), -6) : -6;
  const double distance = std::ldexp(1.0, exponent - 3);
  const auto steps = static_cast<int>(std::nearbyint(magnitude / distance));  // up to 16
  // The first 8 steps of an exponent belong to the exponents below it.
  return static_cast<uint8_t>(sign | (steps + (exponent + 6) * 8));
}

double Value(uint8_t code) {
  const int exponent = code >> 3 & 15;
  const int mantissa = code & 7;
  const double sign = (code & 0x80) != 0 ? -1.0 : 1.0;
  if (exponent == 15 && mantissa == 7) return std::numeric_limits<double>::quiet_NaN();
  return sign *
         (exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10));
}

double Scale(double most) {
  if (most == 0.0) return 1.0;
  double scale = std::ldexp(1.0, kMostScaleExponent);
  while (most / (scale / 2) <= 448.0 && scale > std::ldexp(1.0, kLeastScaleExponent)) scale /= 2;
  return scale;
}

}  // namespace

void RunReference(const Quantise& a) {
  const int64_t tile_rows = a.tiles == ScaleTiles::kRows ? 1 : kScaleTile;
  const int64_t tile_columns = a.tiles == ScaleTiles::kColumns ? 1 : kScaleTile;
  const int64_t stride = ScalesOf(a.tiles, a.rows, a.columns).columns;
  for (int64_t row = 0; row < a.rows; row += tile_rows) {
    for (int64_t column = 0; column < a.columns; column += tile_columns) {
      const auto each = [&](const auto& body) {
        for (int64_t i = row; i < std::min(row + tile_rows, a.rows); ++i) {
          for (int64_t j = column; j < std::min(column + tile_columns, a.columns); ++j) body(i, j);
        }
      };
      double most = 0.0;
      each([&](int64_t i, int64_t j) {
        const double size = std::abs(Get(a.type, a.x, i * a.x_stride + j));
        if (std::isfinite(size)) most = std::max(most, size);
      });
      const double scale = Scale(most);
      a.scales[ScaleAt(a.tiles, stride, row, column)] = static_cast<float>(scale);
      each([&](int64_t i, int64_t j) {
        a.values[i * a.columns + j] = Rounded(Get(a.type, a.x, i * a.x_stride + j) / scale);
      });
    }
  }
}

void RunReference(const Dequantise& a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      const int64_t row = a.first_row + i;
      const int64_t column = a.first_column + j;
      const double scale = a.scales[ScaleAt(a.tiles, a.scale_stride, row, column)];
      Set(a.type, a.y, i * a.columns + j, Value(a.values[row * a.value_stride + column]) * scale);
    }
  }
}

}  // namespace meshwright::kernels
