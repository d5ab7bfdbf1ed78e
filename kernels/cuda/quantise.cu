#include "kernels/cuda/e4m3.cuh"
#include "kernels/cuda/lane_part.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_pieces.cuh"

namespace meshwright::kernels::cuda {
namespace {

constexpr int kTile = static_cast<int>(kScaleTile);

// Most rows of tiles, or of patches of 128 columns, in a grid's second dimension.
constexpr int64_t kMostGridRows = 32768;

dim3 TileGrid(int64_t columns, int64_t rows) {
  const int64_t grid_rows = rows < 1 ? 1 : (rows < kMostGridRows ? rows : kMostGridRows);
  return dim3(static_cast<unsigned int>(columns), static_cast<unsigned int>(grid_rows));
}

// Number of columns of the block's tiles that exist in the matrix.
__device__ int ColumnsOfTile(int64_t columns) {
  const int64_t left = columns - static_cast<int64_t>(blockIdx.x) * kTile;
  return static_cast<int>(left < kTile ? left : kTile);
}

template <typename A>
__device__ void Raise(A& most, A value) {
  const A size = FiniteMagnitude(value);
  most = size > most ? size : most;
}

// Returns the largest magnitude in the packs.
template <typename T, int kPack, int kCount>
__device__ Accumulator<T> Largest(const Pack<T, kPack> (&packs)[kCount]) {
  Accumulator<T> most = 0;
  for (const auto& pack : packs) {
    for (int k = 0; k < kPack; ++k) Raise(most, Widen(pack.values[k]));
  }
  return most;
}

// Quantises a pack with the given inverse scales.
template <typename T, int kPack>
__device__ Pack<uint8_t, kPack> Quantised(const Pack<T, kPack>& x,
                                          const Accumulator<T> (&inverses)[kPack]) {
  Accumulator<T> values[kPack];
  for (int k = 0; k < kPack; ++k) values[k] = Widen(x.values[k]) * inverses[k];
  return PackToE4m3(values);
}

// Lanes per tile of one row: few, so that each makes several reads at once and there are few
// shuffles.
constexpr int kTileLanes = 8;
constexpr int kRowsOfBlock = kThreads / kTileLanes;

// The interface that LanePart needs.
struct TileLanes {
  int packs;

  __device__ int Lane() const { return static_cast<int>(threadIdx.x) % kTileLanes; }
  __device__ int Lanes() const { return kTileLanes; }
  __device__ int Packs() const { return packs; }
};

// A block has tiles of kRowsOfBlock rows at once.
template <typename T, int kPack>
__global__ void QuantiseRowsKernel(Quantise a) {
  using A = Accumulator<T>;
  const TileLanes lanes{ColumnsOfTile(a.columns) / kPack};
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t step = static_cast<int64_t>(gridDim.y) * kRowsOfBlock;
  // All threads stay for the shuffles, even those beyond the last row.
  for (int64_t first = static_cast<int64_t>(blockIdx.y) * kRowsOfBlock; first < a.rows;
       first += step) {
    const int64_t row = first + threadIdx.x / kTileLanes;
    const bool here = row < a.rows;
    const T* x = static_cast<const T*>(a.x) + row * a.x_stride + first_column;
    const auto part = LanePart<T, kPack, kTile / kTileLanes / kPack>::Of(lanes, x, here);
    A most = Largest(part.packs);
    for (int offset = kTileLanes / 2; offset > 0; offset /= 2) {
      const A other = __shfl_xor_sync(0xffffffffu, most, offset);
      most = other > most ? other : most;
    }
    if (!here) continue;
    const int exponent = ScaleExponent(most);
    if (lanes.Lane() == 0) {
      a.scales[static_cast<int64_t>(blockIdx.x) * a.rows + row] = PowerOfTwo(exponent);
    }
    A inverses[kPack];
    for (A& inverse : inverses) inverse = PowerOfTwo(-exponent);
    uint8_t* values = a.values + row * a.columns + first_column;
    part.ForEach(lanes, [&](int p, int at) {
      Store<kPack>(Quantised(part.packs[p], inverses), values, at);
    });
  }
}

constexpr int kPatchThreads = 512;

// A thread's part of a patch of 128 x 128, kept in registers so that it is read once: the same
// columns of every kRowsAtOnce-th row.
template <typename T, int kPack>
struct PatchPart {
  using A = Accumulator<T>;

  static constexpr int kRowLanes = kTile / kPack;
  static constexpr int kRowsAtOnce = kPatchThreads / kRowLanes;
  static constexpr int kRows = kTile / kRowsAtOnce;

  // Blocks that should fit a multiprocessor, so that some read while others write.
  static constexpr int kBlocks = kPack >= 4 ? 2 : 1;

  Pack<T, kPack> packs[kRows];

  __device__ static int Lane() { return static_cast<int>(threadIdx.x) % kRowLanes; }
  __device__ static int FirstRow() { return static_cast<int>(threadIdx.x) / kRowLanes; }

  // Returns the thread's first element of the block's patch in `strip`, for rows `stride` apart.
  template <typename E>
  __device__ static E* First(E* matrix, int64_t strip, int64_t stride) {
    return matrix + (strip * kTile + FirstRow()) * stride +
           static_cast<int64_t>(blockIdx.x) * kTile + Lane() * kPack;
  }
  // Calls body(row of the thread) for the rows of the patch that exist in the matrix.
  template <typename Body>
  __device__ static void ForRows(const Quantise& a, int64_t strip, const Body& body) {
    if (Lane() * kPack >= ColumnsOfTile(a.columns)) return;
    const int64_t left = a.rows - strip * kTile;
    const int rows = static_cast<int>(left < kTile ? left : kTile) - FirstRow();
    for (int r = 0; r < kRows; ++r) {
      if (r * kRowsAtOnce < rows) body(r);
    }
  }
  // Zeros beyond the end of the matrix.
  __device__ static PatchPart Of(const Quantise& a, int64_t strip) {
    PatchPart part = {};
    const T* x = First(static_cast<const T*>(a.x), strip, a.x_stride);
    ForRows(a, strip,
            [&](int r) { part.packs[r] = Load<kPack>(x + r * (kRowsAtOnce * a.x_stride), 0); });
    return part;
  }
  __device__ void StoreOver(const A (&inverses)[kPack], const Quantise& a, int64_t strip) const {
    uint8_t* values = First(a.values, strip, a.columns);
    ForRows(a, strip, [&](int r) {
      Store<kPack>(Quantised(packs[r], inverses), values + r * (kRowsAtOnce * a.columns), 0);
    });
  }
};

template <typename T, int kPack>
__global__ void __launch_bounds__(kPatchThreads, PatchPart<T, kPack>::kBlocks)
    QuantiseBlocksKernel(Quantise a, int64_t scale_columns) {
  using A = Accumulator<T>;
  using Part = PatchPart<T, kPack>;
  for (int64_t strip = blockIdx.y; strip * kTile < a.rows; strip += gridDim.y) {
    const Part part = Part::Of(a, strip);
    const int exponent = ScaleExponent(BlockMax<kPatchThreads>(Largest(part.packs)));
    if (threadIdx.x == 0) a.scales[strip * scale_columns + blockIdx.x] = PowerOfTwo(exponent);
    A inverses[kPack];
    for (A& inverse : inverses) inverse = PowerOfTwo(-exponent);
    part.StoreOver(inverses, a, strip);
  }
}

// Combines the threads of a column.
template <typename T, int kPack>
struct ColumnsShared {
  Accumulator<T> most[PatchPart<T, kPack>::kRowsAtOnce][kTile];
  Accumulator<T> inverses[kTile];
};

template <typename T, int kPack>
__global__ void __launch_bounds__(kPatchThreads, PatchPart<T, kPack>::kBlocks)
    QuantiseColumnsKernel(Quantise a) {
  using A = Accumulator<T>;
  using Part = PatchPart<T, kPack>;
  auto* shared = DynamicShared<ColumnsShared<T, kPack>>();
  const int column = static_cast<int>(threadIdx.x);
  for (int64_t strip = blockIdx.y; strip * kTile < a.rows; strip += gridDim.y) {
    const Part part = Part::Of(a, strip);
    Pack<A, kPack> most = {};
    for (const auto& pack : part.packs) {
      for (int k = 0; k < kPack; ++k) Raise(most.values[k], Widen(pack.values[k]));
    }
    Store<kPack>(most, shared->most[Part::FirstRow()], Part::Lane());
    __syncthreads();
    if (column < ColumnsOfTile(a.columns)) {
      A most_of_column = 0;
      for (int i = 0; i < Part::kRowsAtOnce; ++i) Raise(most_of_column, shared->most[i][column]);
      const int exponent = ScaleExponent(most_of_column);
      a.scales[strip * a.columns + static_cast<int64_t>(blockIdx.x) * kTile + column] =
          PowerOfTwo(exponent);
      shared->inverses[column] = PowerOfTwo(-exponent);
    }
    __syncthreads();
    const auto inverses = Load<kPack>(shared->inverses, Part::Lane());
    part.StoreOver(inverses.values, a, strip);
  }
}

template <typename T>
bool QuantisesPacks(const Quantise& a) {
  return Packs<T>(a.columns, {a.x, a.values}) && Packs<T>(a.x_stride, {});
}

// Numbers per thread, so that it reads several pieces of a row at once.
constexpr int kThreadNumbers = 16;

// Returns the first scale of a pack of numbers, which lies in one row of tiles.
__device__ inline const float* ScalesFrom(const Dequantise& a, int64_t row, int64_t column) {
  switch (a.tiles) {
    case ScaleTiles::kRows:
      return a.scales + column / kTile * a.scale_stride + row;
    case ScaleTiles::kColumns:
      return a.scales + row / kTile * a.scale_stride + column;
    case ScaleTiles::kBlocks:
      break;
  }
  return a.scales + row / kTile * a.scale_stride + column / kTile;
}

// A thread has packs of the piece that are kThreads apart, each with kScales scales: one, or one
// per number.
template <typename T, int kPack, int kScales>
__global__ void DequantiseKernel(Dequantise a, RowPieces pieces) {
  using A = Accumulator<T>;
  constexpr int kThreadPacks = kThreadNumbers / kPack;
  Pack<uint8_t, kPack> codes[kThreadPacks];
  float scales[kThreadPacks][kScales];
  const uint32_t first = blockIdx.x * (kThreads * kThreadPacks) + threadIdx.x;
  const auto for_packs = [&](const auto& body) {
    for (int p = 0; p < kThreadPacks; ++p) {
      RowPiece at;
      if (pieces.Find(blockIdx.y, first + p * kThreads, at)) body(p, at);
    }
  };
  for_packs([&](int p, const RowPiece& at) {
    const int64_t row = a.first_row + at.row;
    const int64_t column = a.first_column + at.piece * kPack;
    codes[p] = Load<kPack>(a.values + row * a.value_stride + column, 0);
    const float* from = ScalesFrom(a, row, column);
    for (int k = 0; k < kScales; ++k) scales[p][k] = from[k];
  });
  for_packs([&](int p, const RowPiece& at) {
    float values[kPack];
    PackFromE4m3(codes[p], values);
    Pack<T, kPack> y;
    for (int k = 0; k < kPack; ++k) {
      const A scale = scales[p][kScales == 1 ? 0 : k];
      Narrow(static_cast<A>(values[k]) * scale, y.values[k]);
    }
    Store<kPack>(y, static_cast<T*>(a.y) + at.row * a.columns, at.piece);
  });
}

template <typename T>
bool DequantisesPacks(const Dequantise& a) {
  return Packs<T>(a.columns, {a.values, a.y}) && Packs<T>(a.value_stride, {}) &&
         Packs<T>(a.first_column, {});
}

}  // namespace

void Launch(const Quantise& args, cudaStream_t stream) {
  const ScaleShape scales = ScalesOf(args.tiles, args.rows, args.columns);
  const int64_t tiles = ScaleTilesIn(args.columns);
  const dim3 patches = TileGrid(tiles, ScaleTilesIn(args.rows));
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(QuantisesPacks<T>(args), [&](auto pack) {
      switch (args.tiles) {
        case ScaleTiles::kRows:
          return Start(QuantiseRowsKernel<T, pack()>,
                       TileGrid(tiles, (args.rows + kRowsOfBlock - 1) / kRowsOfBlock), 0, stream,
                       args);
        case ScaleTiles::kColumns:
          return StartBlocksOf(dim3(kPatchThreads), QuantiseColumnsKernel<T, pack()>, patches,
                               sizeof(ColumnsShared<T, pack()>), stream, args);
        case ScaleTiles::kBlocks:
          return StartBlocksOf(dim3(kPatchThreads), QuantiseBlocksKernel<T, pack()>, patches, 0,
                               stream, args, scales.columns);
      }
    });
  });
}

void Launch(const Dequantise& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(DequantisesPacks<T>(args), [&](auto pack) {
      const RowPieces pieces(args.rows, args.columns / pack());
      const bool of_columns = args.tiles == ScaleTiles::kColumns;
      Start(of_columns ? DequantiseKernel<T, pack(), pack()> : DequantiseKernel<T, pack(), 1>,
            pieces.Grid(kThreads * kThreadNumbers / pack()), 0, stream, args, pieces);
    });
  });
}

}  // namespace meshwright::kernels::cuda
