#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

constexpr int kTile = static_cast<int>(kScaleTile);
static_assert(kThreads == 2 * kTile);

// Rows of tiles, or of patches of 128 columns, that a grid has at most in its second dimension.
constexpr int64_t kMostGridRows = 32768;

dim3 TileGrid(int64_t columns, int64_t rows) {
  const int64_t grid_rows = rows < 1 ? 1 : (rows < kMostGridRows ? rows : kMostGridRows);
  return dim3(static_cast<unsigned int>(columns), static_cast<unsigned int>(grid_rows));
}

// A warp takes a tile of one row, each lane four neighbours 32 apart; a block as many rows as it
// has warps.
template <typename T>
__global__ void QuantiseRowsKernel(Quantise a) {
  using A = Accumulator<T>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t step = static_cast<int64_t>(gridDim.y) * (kThreads / kWarp);
  int64_t row = static_cast<int64_t>(blockIdx.y) * (kThreads / kWarp) + threadIdx.x / kWarp;
  // All lanes of a warp have the same row.
  for (; row < a.rows; row += step) {
    const T* x = static_cast<const T*>(a.x) + row * a.x_stride;
    A values[kTile / kWarp] = {};
    A most = 0;
    for (int k = 0; k < kTile / kWarp; ++k) {
      const int64_t column = first_column + k * kWarp + lane;
      if (column < a.columns) values[k] = Widen(x[column]);
      const A size = FiniteMagnitude(values[k]);
      most = size > most ? size : most;
    }
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      const A other = __shfl_xor_sync(0xffffffffu, most, offset);
      most = other > most ? other : most;
    }
    const int exponent = ScaleExponent(most);
    const A inverse = PowerOfTwo(-exponent);
    if (lane == 0) a.scales[static_cast<int64_t>(blockIdx.x) * a.rows + row] = PowerOfTwo(exponent);
    for (int k = 0; k < kTile / kWarp; ++k) {
      const int64_t column = first_column + k * kWarp + lane;
      if (column < a.columns) a.values[row * a.columns + column] = ToE4m3(values[k] * inverse);
    }
  }
}

// Two threads share a column of a patch of 128 x 128, a half of its rows each. `whole` makes the
// patch one tile.
template <typename T>
__global__ void QuantisePatchesKernel(Quantise a, int64_t scale_columns, bool whole) {
  using A = Accumulator<T>;
  __shared__ A most_of_halves[2][kTile];
  const int column_in_tile = static_cast<int>(threadIdx.x) % kTile;
  const int half = static_cast<int>(threadIdx.x) / kTile;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kTile + column_in_tile;
  const bool here = column < a.columns;
  const T* x = static_cast<const T*>(a.x) + column;
  for (int64_t strip = blockIdx.y; strip * kTile < a.rows; strip += gridDim.y) {
    const int64_t first = strip * kTile + half * (kTile / 2);
    const int64_t end = first + kTile / 2 < a.rows ? first + kTile / 2 : a.rows;
    A most = 0;
    for (int64_t row = first; here && row < end; ++row) {
      const A size = FiniteMagnitude(Widen(x[row * a.x_stride]));
      most = size > most ? size : most;
    }
    if (whole) {
      most = BlockMax(most);
    } else {
      __syncthreads();  // the array may still be read for the strip before
      most_of_halves[half][column_in_tile] = most;
      __syncthreads();
      const A other = most_of_halves[1 - half][column_in_tile];
      most = other > most ? other : most;
    }
    const int exponent = ScaleExponent(most);
    const A inverse = PowerOfTwo(-exponent);
    const int64_t scale_column = whole ? static_cast<int64_t>(blockIdx.x) : column;
    const bool writes_scale = half == 0 && here && (!whole || column_in_tile == 0);
    if (writes_scale) a.scales[strip * scale_columns + scale_column] = PowerOfTwo(exponent);
    for (int64_t row = first; here && row < end; ++row) {
      a.values[row * a.columns + column] = ToE4m3(Widen(x[row * a.x_stride]) * inverse);
    }
  }
}

// A thread has a column of the piece, of every gridDim.y-th row.
template <typename T>
__global__ void DequantiseKernel(Dequantise a) {
  using A = Accumulator<T>;
  const int64_t j = GlobalThread();
  if (j >= a.columns) return;
  const int64_t column = a.first_column + j;
  for (int64_t i = blockIdx.y; i < a.rows; i += gridDim.y) {
    const int64_t row = a.first_row + i;
    int64_t at = row / kTile * a.scale_stride + column / kTile;
    if (a.tiles == ScaleTiles::kRows) at = column / kTile * a.scale_stride + row;
    if (a.tiles == ScaleTiles::kColumns) at = row / kTile * a.scale_stride + column;
    const A value = static_cast<A>(FromE4m3(a.values[row * a.value_stride + column]));
    Narrow(value * static_cast<A>(a.scales[at]), static_cast<T*>(a.y)[i * a.columns + j]);
  }
}

}  // namespace

void Launch(const Quantise& args, cudaStream_t stream) {
  const ScaleShape scales = ScalesOf(args.tiles, args.rows, args.columns);
  const int64_t tiles = ScaleTilesIn(args.columns);
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    if (args.tiles == ScaleTiles::kRows) {
      constexpr int64_t kRowsOfBlock = kThreads / kWarp;
      Start(QuantiseRowsKernel<T>, TileGrid(tiles, (args.rows + kRowsOfBlock - 1) / kRowsOfBlock),
            0, stream, args);
      return;
    }
    Start(QuantisePatchesKernel<T>, TileGrid(tiles, ScaleTilesIn(args.rows)), 0, stream, args,
          scales.columns, args.tiles == ScaleTiles::kBlocks);
  });
}

void Launch(const Dequantise& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    Start(DequantiseKernel<T>, TileGrid(BlocksToCover(args.columns), args.rows), 0, stream, args);
  });
}

}  // namespace meshwright::kernels::cuda
