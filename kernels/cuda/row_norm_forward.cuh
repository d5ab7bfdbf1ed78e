// Computes RMSNorm and LayerNorm. LayerNorm is RMSNorm of rows minus their mean (kCentred).
#pragma once

#include "kernels/cuda/row_lanes.cuh"

namespace meshwright::kernels::cuda {

template <typename T, int kPack>
__device__ void AddTo(Pack<T, kPack>& sum, const Pack<T, kPack>& branch) {
  for (int k = 0; k < kPack; ++k) {
    Narrow(Widen(sum.values[k]) + Widen(branch.values[k]), sum.values[k]);
  }
}

// Returns the lane's part of a row of x. If there is a branch, returns the part of x + branch,
// which is also written to memory. All reads come before the writes, so that they overlap: the
// compiler keeps the order of reads and writes.
template <typename Part, typename T>
__device__ Part SumPart(const LayerNormForward& a, const RowLanes& lanes, int64_t row) {
  Part part = Part::Of(lanes, static_cast<const T*>(a.x) + row * a.width, row < a.rows);
  if (a.branch == nullptr || row >= a.rows) return part;
  const Part branch = Part::Of(lanes, static_cast<const T*>(a.branch) + row * a.width, true);
  Part::ForEach(lanes, [&](int p, int) { AddTo(part.packs[p], branch.packs[p]); });
  part.StoreTo(lanes, static_cast<T*>(a.sum) + row * a.width);
  return part;
}

// Returns one pack of a row of x or, if there is a branch, of x + branch, which is also written to
// memory.
template <int kPack, typename T>
__device__ Pack<T, kPack> SumPack(const LayerNormForward& a, int64_t row, int64_t pack) {
  auto values = Load<kPack>(static_cast<const T*>(a.x) + row * a.width, pack);
  if (a.branch == nullptr) return values;
  AddTo(values, Load<kPack>(static_cast<const T*>(a.branch) + row * a.width, pack));
  Store<kPack>(values, static_cast<T*>(a.sum) + row * a.width, pack);
  return values;
}

template <int kPack, typename T>
__device__ Accumulator<T> SumOf(const Pack<T, kPack>& values) {
  Accumulator<T> sum = 0;
  for (const T value : values.values) sum += Widen(value);
  return sum;
}

template <int kPack, typename T>
__device__ Accumulator<T> SquaresOf(const Pack<T, kPack>& values, Accumulator<T> mean) {
  Accumulator<T> squares = 0;
  for (const T value : values.values) {
    const Accumulator<T> centred = Widen(value) - mean;
    squares += centred * centred;
  }
  return squares;
}

// Returns the reciprocal deviation of a row from its sum of squares.
template <typename A>
__device__ A ReciprocalDeviation(const LayerNormForward& a, A squares) {
  return 1 / sqrt(squares / static_cast<A>(a.width) + static_cast<A>(a.epsilon));
}

template <bool kCentred, typename A>
__device__ void WriteStatistics(const LayerNormForward& a, int64_t row, A rstd, A mean) {
  static_cast<A*>(a.statistics)[row] = rstd;
  if constexpr (kCentred) static_cast<A*>(a.statistics)[a.rows + row] = mean;
}

template <int kPack, typename T>
__device__ void WriteNormed(const LayerNormForward& a, int64_t row, int64_t pack,
                            Pack<T, kPack> values, Accumulator<T> rstd, Accumulator<T> mean) {
  Accumulator<T> scale[kPack];
  Accumulator<T> shift[kPack];
  VectorValues<kPack, T>(a.weight, pack, 1, scale);
  VectorValues<kPack, T>(a.bias, pack, 0, shift);
  for (int k = 0; k < kPack; ++k) {
    Narrow((Widen(values.values[k]) - mean) * rstd * scale[k] + shift[k], values.values[k]);
  }
  Store<kPack>(values, static_cast<T*>(a.y) + row * a.width, pack);
}

// Norms rows that are kept in registers. All packs of a lane are loaded concurrently.
template <typename T, int kLanePacks, bool kCentred>
__global__ void __launch_bounds__(kThreads)
    RowNormForwardKernel(LayerNormForward a, RowLanes lanes) {
  using A = Accumulator<T>;
  constexpr int kPack = kAccessBytes / sizeof(T);
  using Part = LanePart<T, kPack, kLanePacks>;
  const int64_t row = RowLanes::FirstRow() + threadIdx.y;
  const Part part = SumPart<Part, T>(a, lanes, row);
  RowTotals<A, 1> totals;
  A mean = 0;
  if constexpr (kCentred) {
    A sum[1] = {};
    for (const auto& pack : part.packs) sum[0] += SumOf(pack);
    totals.Take(sum);
    mean = sum[0] / static_cast<A>(a.width);
  }
  A squares[1] = {};
  Part::ForEach(lanes, [&](int p, int) { squares[0] += SquaresOf(part.packs[p], mean); });
  totals.Take(squares);
  if (row >= a.rows) return;
  const A rstd = ReciprocalDeviation(a, squares[0]);
  if (lanes.Lane() == 0) WriteStatistics<kCentred>(a, row, rstd, mean);
  Part::ForEach(lanes, [&](int p, int at) { WriteNormed(a, row, at, part.packs[p], rstd, mean); });
}

// Norms rows that are too wide for registers or not in whole packs. Each pass reads a row again,
// from the cache.
template <typename T, int kPack, bool kCentred>
__global__ void WideRowNormForwardKernel(LayerNormForward a) {
  using A = Accumulator<T>;
  const int64_t packs = a.width / kPack;
  const T* sums = static_cast<const T*>(a.branch == nullptr ? a.x : a.sum);
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    // Every thread reads back only its own packs.
    const T* values = sums + row * a.width;
    A sum = 0;
    A squares = 0;
    for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
      const auto pack = SumPack<kPack, T>(a, row, i);
      if constexpr (kCentred) sum += SumOf(pack);
      if constexpr (!kCentred) squares += SquaresOf(pack, A{0});
    }
    A mean = 0;
    if constexpr (kCentred) {
      mean = BlockSum(sum) / static_cast<A>(a.width);
      for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
        squares += SquaresOf(Load<kPack>(values, i), mean);
      }
    }
    const A rstd = ReciprocalDeviation(a, BlockSum(squares));
    if (threadIdx.x == 0) WriteStatistics<kCentred>(a, row, rstd, mean);
    for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
      WriteNormed(a, row, i, Load<kPack>(values, i), rstd, mean);
    }
  }
}

// The maximum number of packs per lane. With more, a multiprocessor would have too few warps.
inline constexpr int kMostForwardLanePacks = 8;
inline constexpr int64_t kMostForwardPacks = int64_t{kThreads} * kMostForwardLanePacks;

// Calls body(packs of a lane, as a constant) so that a row is on as few warps as possible.
template <typename Body>
void WithForwardLanePacks(int64_t packs, const Body& body) {
  constexpr int64_t kWarpPacks = int64_t{kWarp} * kMostForwardLanePacks;
  const int64_t warps = std::max<int64_t>((packs + kWarpPacks - 1) / kWarpPacks, 1);
  const int64_t lane_packs = (packs + warps * kWarp - 1) / (warps * kWarp);
  if (lane_packs <= 2) return body(std::integral_constant<int, 2>{});
  if (lane_packs <= 4) return body(std::integral_constant<int, 4>{});
  if (lane_packs <= 6) return body(std::integral_constant<int, 6>{});
  body(std::integral_constant<int, kMostForwardLanePacks>{});
}

template <bool kCentred>
void LaunchRowNorm(const LayerNormForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    constexpr int64_t kPack = kAccessBytes / sizeof(T);
    const bool whole =
        Packs<T>(args.width, {args.x, args.branch, args.sum, args.weight, args.bias, args.y});
    const int64_t packs = args.width / kPack;
    if (whole && packs <= kMostForwardPacks) {
      WithForwardLanePacks(packs, [&](auto lane_packs) {
        const dim3 threads = RowThreads(packs, lane_packs());
        StartBlocksOf(threads, RowNormForwardKernel<T, lane_packs(), kCentred>,
                      static_cast<unsigned int>(BlocksOfRows(args.rows, threads)), 0, stream, args,
                      RowLanes{static_cast<int>(packs)});
      });
      return;
    }
    WithPack<T>(whole, [&](auto pack) {
      Start(WideRowNormForwardKernel<T, pack(), kCentred>, BlocksForRows(args.rows), 0, stream,
            args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
