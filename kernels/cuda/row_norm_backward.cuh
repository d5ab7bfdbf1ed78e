// Gradients of RMSNorm and LayerNorm, which is the same of rows whose mean is taken away
// (kCentred).
#pragma once

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/row_lanes.cuh"

namespace meshwright::kernels::cuda {

// Of a row, from the forward pass; no mean where rows aren't centred.
template <typename A>
struct RowStatistics {
  A rstd = 0;
  A mean = 0;

  __device__ A Normed(A x) const { return (x - mean) * rstd; }

  template <bool kCentred>
  __device__ static RowStatistics Of(const LayerNormBackward& a, int64_t row) {
    const A* statistics = static_cast<const A*>(a.statistics);
    return {statistics[row], kCentred ? statistics[a.rows + row] : A{0}};
  }
};

// What the gradients of a row's normed elements (dy * weight) sum up to, and then are in the mean.
template <typename A>
struct RowMoments {
  A dot = 0;  // times the normed elements
  A sum = 0;  // 0 where it isn't needed: where rows aren't centred
};

// Takes a thread's part to the whole row's means, by total(numbers).
template <bool kCentred, typename A, typename Total>
__device__ void TakeMeans(RowMoments<A>& moments, int64_t width, const Total& total) {
  A values[kCentred ? 2 : 1];
  values[0] = moments.dot;
  if constexpr (kCentred) values[1] = moments.sum;
  total(values);
  moments.dot = values[0] / static_cast<A>(width);
  if constexpr (kCentred) moments.sum = values[1] / static_cast<A>(width);
}

// What an element's gradient is, from its normed value and the gradient of that one.
template <typename A>
__device__ A ThroughNorm(const RowStatistics<A>& statistics, const RowMoments<A>& means, A normed,
                         A dnormed) {
  return statistics.rstd * (dnormed - means.sum - normed * means.dot);
}

// What a lane has of a row's operands.
template <typename T, int kLanePacks>
struct BackwardRow {
  using Part = LanePart<T, kAccessBytes / sizeof(T), kLanePacks>;
  Part dy;
  Part x;
  RowStatistics<Accumulator<T>> statistics;

  // Zeros where there is no such row.
  template <bool kCentred>
  __device__ static BackwardRow Of(const LayerNormBackward& a, const RowLanes& lanes, int64_t row) {
    const bool exists = row < a.rows;
    const int64_t first = row * a.width;
    BackwardRow result;
    result.dy = Part::Of(lanes, static_cast<const T*>(a.dy) + first, exists);
    result.x = Part::Of(lanes, static_cast<const T*>(a.x) + first, exists);
    if (exists) {
      result.statistics = RowStatistics<Accumulator<T>>::template Of<kCentred>(a, row);
    }
    return result;
  }
};

// What a lane adds up over rows: the gradients of its columns of the vectors.
template <typename T, int kLanePacks>
struct VectorSums {
  using A = Accumulator<T>;
  using Part = LanePart<A, kAccessBytes / sizeof(T), kLanePacks>;
  Part weight = {};
  Part bias = {};
};

// Adds the row to the sums, and returns the lane's part of its moments. What the lane doesn't have
// is zeros.
template <bool kCentred, typename T, int kLanePacks>
__device__ RowMoments<Accumulator<T>> AddUp(const BackwardRow<T, kLanePacks>& row,
                                            const typename BackwardRow<T, kLanePacks>::Part& weight,
                                            VectorSums<T, kLanePacks>& sums) {
  using A = Accumulator<T>;
  RowMoments<A> moments;
  for (int p = 0; p < kLanePacks; ++p) {
    for (int k = 0; k < static_cast<int>(kAccessBytes / sizeof(T)); ++k) {
      const A dy = Widen(row.dy.packs[p].values[k]);
      const A normed = row.statistics.Normed(Widen(row.x.packs[p].values[k]));
      const A dnormed = dy * Widen(weight.packs[p].values[k]);
      sums.weight.packs[p].values[k] += dy * normed;
      moments.dot += dnormed * normed;
      if constexpr (kCentred) {
        sums.bias.packs[p].values[k] += dy;
        moments.sum += dnormed;
      }
    }
  }
  return moments;
}

// Adds the row's gradient to the lane's part of `result`, which may be of a residual.
template <typename T, int kLanePacks>
__device__ void AddGradient(const BackwardRow<T, kLanePacks>& row,
                            const typename BackwardRow<T, kLanePacks>::Part& weight,
                            const RowMoments<Accumulator<T>>& means,
                            typename BackwardRow<T, kLanePacks>::Part& result) {
  using A = Accumulator<T>;
  for (int p = 0; p < kLanePacks; ++p) {
    for (int k = 0; k < static_cast<int>(kAccessBytes / sizeof(T)); ++k) {
      const A normed = row.statistics.Normed(Widen(row.x.packs[p].values[k]));
      const A dnormed = Widen(row.dy.packs[p].values[k]) * Widen(weight.packs[p].values[k]);
      T& value = result.packs[p].values[k];
      Narrow(Widen(value) + ThroughNorm(row.statistics, means, normed, dnormed), value);
    }
  }
}

// Adds what the block's rows have for the columns, in `part`, to the gradient of a vector, if
// there is one.
template <typename A, int kPack, int kLanePacks>
__device__ void AddToColumns(const RowLanes& lanes, const LanePart<A, kPack, kLanePacks>& part,
                             int width, void* gradient) {
  using Part = LanePart<A, kPack, kLanePacks>;
  if (gradient == nullptr) return;
  A* columns = DynamicShared<A>();
  for (unsigned int row = 0; row < blockDim.y; ++row) {
    __syncthreads();
    if (threadIdx.y != row) continue;
    Part sums = part;
    if (row > 0) {
      Part::ForEach(lanes, [&](int p, int at) {
        const auto before = Load<kPack>(columns, at);
        for (int k = 0; k < kPack; ++k) sums.packs[p].values[k] += before.values[k];
      });
    }
    sums.StoreTo(lanes, columns);
  }
  __syncthreads();
  // Neighbours in a warp add to neighbouring columns, which the cache takes together.
  const auto threads = static_cast<int>(blockDim.x * blockDim.y);
  for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < width; i += threads) {
    atomicAdd(static_cast<A*>(gradient) + i, columns[i]);
  }
}

// Ones without a weight.
template <typename Part>
__device__ Part WeightPart(const LayerNormBackward& a, const RowLanes& lanes) {
  using T = std::remove_reference_t<decltype(Part::packs[0].values[0])>;
  if (a.weight != nullptr) return Part::Of(lanes, static_cast<const T*>(a.weight), true);
  Part ones;
  for (auto& pack : ones.packs) {
    for (T& value : pack.values) Narrow(Accumulator<T>{1}, value);
  }
  return ones;
}

// How lanes keep rows; wider ones (kWider) with more packs. bf16 is half as large as its sums, so
// that lanes have fewer packs of it.
template <typename T, bool kCentred, bool kWider>
struct KeptRows {
  static constexpr int kLanePacks = (sizeof(T) == 2 ? 1 : 2) * (kWider ? 2 : 1);
  // Whether registers are enough for the next row to be on its way meanwhile.
  static constexpr bool kReadAhead = !kWider || (sizeof(T) == 2 && !kCentred);
  // The largest blocks, and how many of them a multiprocessor has the registers for.
  static constexpr int kThreads = kLanePacks == 1 ? 384 : kMostRowLanes;
  static constexpr int kBlocks = kLanePacks == 1 ? 2 : 1;

  static constexpr int64_t kMostPacks = int64_t{kLanePacks} * kThreads;
};

// Rows that lanes keep. A lane has the same columns of all rows of its block, so that it can add up
// the vectors' gradients without meeting others. dx may be dy: a row is read before it is written,
// by the lanes that have it.
template <typename T, bool kCentred, bool kWider>
__global__ void __launch_bounds__(KeptRows<T, kCentred, kWider>::kThreads,
                                  KeptRows<T, kCentred, kWider>::kBlocks)
    RowNormBackwardKernel(LayerNormBackward a, RowLanes lanes) {
  constexpr int kLanePacks = KeptRows<T, kCentred, kWider>::kLanePacks;
  constexpr bool kReadAhead = KeptRows<T, kCentred, kWider>::kReadAhead;
  using A = Accumulator<T>;
  using Row = BackwardRow<T, kLanePacks>;
  const auto weight = WeightPart<typename Row::Part>(a, lanes);
  VectorSums<T, kLanePacks> sums;
  RowTotals<A, kCentred ? 2 : 1> totals;
  const T* residual = static_cast<const T*>(a.residual_gradient);
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.y;
  int64_t row = RowLanes::FirstRow() + threadIdx.y;
  Row next;
  if constexpr (kReadAhead) next = Row::template Of<kCentred>(a, lanes, row);
  for (; row - threadIdx.y < a.rows; row += step) {
    if constexpr (!kReadAhead) next = Row::template Of<kCentred>(a, lanes, row);
    const Row current = next;
    auto result =
        Row::Part::Of(lanes, residual + row * a.width, residual != nullptr && row < a.rows);
    if constexpr (kReadAhead) next = Row::template Of<kCentred>(a, lanes, row + step);
    auto moments = AddUp<kCentred>(current, weight, sums);
    TakeMeans<kCentred>(moments, a.width, [&](auto& values) { totals.Take(values); });
    if (row >= a.rows) continue;
    AddGradient(current, weight, moments, result);
    result.StoreTo(lanes, static_cast<T*>(a.dx) + row * a.width);
  }
  const auto width = static_cast<int>(a.width);
  AddToColumns(lanes, sums.weight, width, a.weight_gradient);
  if constexpr (kCentred) AddToColumns(lanes, sums.bias, width, a.bias_gradient);
}

// The gradients of the vectors where rows aren't kept, before dx takes the place of dy.
template <typename T, bool kCentred>
__global__ void WideRowNormVectorsKernel(LayerNormBackward a, RowGroups groups) {
  using A = Accumulator<T>;
  ForColumnOfThread(a.rows, a.width, groups, [&](int64_t column, int64_t first, int64_t end) {
    const T* dy = static_cast<const T*>(a.dy) + column;
    const T* x = static_cast<const T*>(a.x) + column;
    A weight = 0;
    A bias = 0;
    for (int64_t row = first; row < end; ++row) {
      const A d = Widen(dy[row * a.width]);
      const auto statistics = RowStatistics<A>::template Of<kCentred>(a, row);
      weight += d * statistics.Normed(Widen(x[row * a.width]));
      bias += d;
    }
    if (a.weight_gradient != nullptr) {
      atomicAdd(static_cast<A*>(a.weight_gradient) + column, weight);
    }
    if (a.bias_gradient != nullptr) atomicAdd(static_cast<A*>(a.bias_gradient) + column, bias);
  });
}

// Rows that are too wide for registers or not in whole packs: they come from memory the first time,
// and from the cache the second.
template <typename T, int kPack, bool kCentred>
__global__ void WideRowNormBackwardKernel(LayerNormBackward a) {
  using A = Accumulator<T>;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* dy_row = static_cast<const T*>(a.dy) + row * a.width;
    const T* x_row = static_cast<const T*>(a.x) + row * a.width;
    const T* residual_row = static_cast<const T*>(a.residual_gradient) + row * a.width;
    const auto statistics = RowStatistics<A>::template Of<kCentred>(a, row);
    // Calls body(pack of the row, its normed elements, their gradients).
    const auto for_packs = [&](const auto& body) {
      for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
        const auto dy = Load<kPack>(dy_row, i);
        const auto x = Load<kPack>(x_row, i);
        A normed[kPack];
        A dnormed[kPack];
        VectorValues<kPack, T>(a.weight, i, 1, dnormed);
        for (int k = 0; k < kPack; ++k) {
          normed[k] = statistics.Normed(Widen(x.values[k]));
          dnormed[k] *= Widen(dy.values[k]);
        }
        body(i, normed, dnormed);
      }
    };
    RowMoments<A> moments;
    for_packs([&](int64_t, const A(&normed)[kPack], const A(&dnormed)[kPack]) {
      for (int k = 0; k < kPack; ++k) {
        moments.dot += dnormed[k] * normed[k];
        if constexpr (kCentred) moments.sum += dnormed[k];
      }
    });
    TakeMeans<kCentred>(moments, a.width, [](auto& values) {
      for (A& value : values) value = BlockSum(value);
    });
    for_packs([&](int64_t i, const A(&normed)[kPack], const A(&dnormed)[kPack]) {
      Pack<T, kPack> result = {};
      if (a.residual_gradient != nullptr) result = Load<kPack>(residual_row, i);
      for (int k = 0; k < kPack; ++k) {
        T& value = result.values[k];
        Narrow(Widen(value) + ThroughNorm(statistics, moments, normed[k], dnormed[k]), value);
      }
      Store<kPack>(result, static_cast<T*>(a.dx) + row * a.width, i);
    });
  }
}

template <typename T, bool kCentred>
void LaunchWideRowNorm(const LayerNormBackward& args, bool packs, cudaStream_t stream) {
  if (args.weight_gradient != nullptr || args.bias_gradient != nullptr) {
    const RowGroups groups(args.rows, args.width);
    Start(WideRowNormVectorsKernel<T, kCentred>, groups.Grid(), 0, stream, args, groups);
  }
  WithPack<T>(packs, [&](auto pack) {
    Start(WideRowNormBackwardKernel<T, pack(), kCentred>, BlocksForRows(args.rows), 0, stream,
          args);
  });
}

template <typename T, bool kCentred, bool kWider>
void LaunchKeptRowNorm(const LayerNormBackward& args, int64_t packs, cudaStream_t stream) {
  using Kept = KeptRows<T, kCentred, kWider>;
  const dim3 threads = RowThreads(packs, Kept::kLanePacks);
  // As many as the device runs at once, so that the sums of many rows meet before they go to
  // memory.
  const int64_t blocks_at_once = Kept::kThreads * Kept::kBlocks / (threads.x * threads.y);
  const int64_t blocks =
      std::min(Multiprocessors() * blocks_at_once, BlocksOfRows(args.rows, threads));
  StartBlocksOf(threads, RowNormBackwardKernel<T, kCentred, kWider>,
                static_cast<unsigned int>(blocks),
                static_cast<size_t>(args.width) * sizeof(Accumulator<T>), stream, args,
                RowLanes{static_cast<int>(packs)});
}

template <bool kCentred>
void LaunchRowNorm(const LayerNormBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool whole =
        Packs<T>(args.width, {args.dy, args.x, args.weight, args.residual_gradient, args.dx});
    const int64_t packs = args.width * static_cast<int64_t>(sizeof(T)) / kAccessBytes;
    if (whole && packs <= KeptRows<T, kCentred, false>::kMostPacks) {
      LaunchKeptRowNorm<T, kCentred, false>(args, packs, stream);
    } else if (whole && packs <= KeptRows<T, kCentred, true>::kMostPacks) {
      LaunchKeptRowNorm<T, kCentred, true>(args, packs, stream);
    } else {
      LaunchWideRowNorm<T, kCentred>(args, whole, stream);
    }
  });
}

}  // namespace meshwright::kernels::cuda
