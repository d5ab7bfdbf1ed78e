#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// A part of a matrix that contains adjacent tiles.
struct Patch {
  int64_t row;
  int64_t row_end;
  int64_t column;
  int64_t columns;  // at most kScaleTile
};

template <typename T>
const T* RowOf(const Quantise& a, int64_t row, const Patch& patch) {
  return static_cast<const T*>(a.x) + row * a.x_stride + patch.column;
}

template <typename T, typename A>
void Round(const T* x, A inverse, int64_t count, uint8_t* values) {
  for (int64_t i = 0; i < count; ++i) {
    values[i] = ToE4m3(static_cast<A>(Widen(x[i])) * inverse);
  }
}

// The whole patch is one tile.
template <typename T>
void QuantiseTile(const Quantise& a, const Patch& patch, float* scale) {
  using A = Accumulator<T>;
  A most = 0;
  for (int64_t row = patch.row; row < patch.row_end; ++row) {
    const T* x = RowOf<T>(a, row, patch);
    for (int64_t i = 0; i < patch.columns; ++i) {
      const A size = FiniteMagnitude(Widen(x[i]));
      most = size > most ? size : most;
    }
  }
  const int exponent = ScaleExponent(most);
  *scale = PowerOfTwo(exponent);
  for (int64_t row = patch.row; row < patch.row_end; ++row) {
    Round<T, A>(RowOf<T>(a, row, patch), PowerOfTwo(-exponent), patch.columns,
                a.values + row * a.columns + patch.column);
  }
}

// Every column of the patch is a tile.
template <typename T>
void QuantiseColumns(const Quantise& a, const Patch& patch, float* scales) {
  using A = Accumulator<T>;
  A most[kScaleTile] = {};
  A inverse[kScaleTile];
  for (int64_t row = patch.row; row < patch.row_end; ++row) {
    const T* x = RowOf<T>(a, row, patch);
    for (int64_t i = 0; i < patch.columns; ++i) {
      const A size = FiniteMagnitude(Widen(x[i]));
      most[i] = size > most[i] ? size : most[i];
    }
  }
  for (int64_t i = 0; i < patch.columns; ++i) {
    const int exponent = ScaleExponent(most[i]);
    scales[i] = PowerOfTwo(exponent);
    inverse[i] = PowerOfTwo(-exponent);
  }
  for (int64_t row = patch.row; row < patch.row_end; ++row) {
    const T* x = RowOf<T>(a, row, patch);
    uint8_t* values = a.values + row * a.columns + patch.column;
    for (int64_t i = 0; i < patch.columns; ++i) values[i] = ToE4m3(Widen(x[i]) * inverse[i]);
  }
}

// Calls body(first column, columns) for the columns' tiles.
template <typename Body>
void ForTiles(int64_t columns, const Body& body) {
  for (int64_t first = 0; first < columns; first += kScaleTile) {
    body(first, columns - first < kScaleTile ? columns - first : kScaleTile);
  }
}

template <typename T>
void QuantiseStrip(const Quantise& a, int64_t strip, int64_t height) {
  const int64_t row = strip * height;
  const int64_t row_end = row + height < a.rows ? row + height : a.rows;
  const ScaleShape scales = ScalesOf(a.tiles, a.rows, a.columns);
  ForTiles(a.columns, [&](int64_t first, int64_t columns) {
    const Patch patch = {row, row_end, first, columns};
    switch (a.tiles) {
      case ScaleTiles::kRows:
        return QuantiseTile<T>(a, patch, a.scales + first / kScaleTile * scales.columns + row);
      case ScaleTiles::kColumns:
        return QuantiseColumns<T>(a, patch, a.scales + strip * scales.columns + first);
      case ScaleTiles::kBlocks:
        return QuantiseTile<T>(a, patch, a.scales + strip * scales.columns + first / kScaleTile);
    }
  });
}

// Scales of neighbours in a row are `step` apart; 0: they share one.
template <typename T>
void DequantiseRun(const uint8_t* values, const float* scales, int64_t step, int64_t count, T* y) {
  using A = Accumulator<T>;
  for (int64_t i = 0; i < count; ++i) {
    Narrow(static_cast<A>(FromE4m3(values[i])) * static_cast<A>(scales[i * step]), y[i]);
  }
}

template <typename T>
void DequantiseRow(const Dequantise& a, int64_t index) {
  const int64_t row = a.first_row + index;
  const uint8_t* values = a.values + row * a.value_stride;
  T* y = static_cast<T*>(a.y) + index * a.columns;
  if (a.tiles == ScaleTiles::kColumns) {
    const float* scales = a.scales + row / kScaleTile * a.scale_stride + a.first_column;
    DequantiseRun(values + a.first_column, scales, 1, a.columns, y);
    return;
  }
  const int64_t end = a.first_column + a.columns;
  for (int64_t column = a.first_column; column < end;) {
    const int64_t tile = column / kScaleTile;
    const int64_t next = (tile + 1) * kScaleTile < end ? (tile + 1) * kScaleTile : end;
    const float* scale = a.tiles == ScaleTiles::kRows
                             ? a.scales + tile * a.scale_stride + row
                             : a.scales + row / kScaleTile * a.scale_stride + tile;
    DequantiseRun(values + column, scale, 0, next - column, y + column - a.first_column);
    column = next;
  }
}

}  // namespace

void Run(const Quantise& args, const Parallel& parallel) {
  const int64_t height = args.tiles == ScaleTiles::kRows ? 1 : kScaleTile;
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, (args.rows + height - 1) / height, height * args.columns,
             [&](int64_t begin, int64_t end) {
               for (int64_t strip = begin; strip < end; ++strip) {
                 QuantiseStrip<decltype(element)>(args, strip, height);
               }
             });
  });
}

void Run(const Dequantise& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.columns, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) DequantiseRow<decltype(element)>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
