// Computes the gradients of RMSNorm and LayerNorm. LayerNorm is RMSNorm of rows minus their mean
// (kCentred).
#pragma once

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/pack_ring.cuh"
#include "kernels/cuda/row_lanes.cuh"

namespace meshwright::kernels::cuda {

// Statistics of a row from the forward pass. The mean is 0 if rows aren't centred.
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

// Sums over the gradients of a row's normed elements (dy * weight). TakeMeans() turns them into
// means.
template <typename A>
struct RowMoments {
  A dot = 0;  // of products with the normed elements
  A sum = 0;  // 0 if rows aren't centred
};

// Turns a thread's sums into the means of the whole row. total(values) replaces values by their
// sums over the row's threads; `share` is one over the number of columns.
template <bool kCentred, typename A, typename Total>
__device__ void TakeMeans(RowMoments<A>& moments, A share, const Total& total) {
  A values[kCentred ? 2 : 1];
  values[0] = moments.dot;
  if constexpr (kCentred) values[1] = moments.sum;
  total(values);
  moments.dot = values[0] * share;
  if constexpr (kCentred) moments.sum = values[1] * share;
}

// Returns an element's gradient from its normed value and that value's gradient.
template <typename A>
__device__ A ThroughNorm(const RowStatistics<A>& statistics, const RowMoments<A>& means, A normed,
                         A dnormed) {
  return statistics.rstd * (dnormed - means.sum - normed * means.dot);
}

// Index of an operand's pack in a lane's group of the ring.
enum class Operand : uint8_t { kDy, kX, kResidual };
inline constexpr int kOperands = 3;

// A lane's sums over rows: the gradients of weight and bias for its columns.
template <typename T, int kLanePacks>
struct VectorSums {
  using A = Accumulator<T>;
  using Part = LanePart<A, kAccessBytes / sizeof(T), kLanePacks>;
  Part weight = {};
  Part bias = {};
};

// Prefetches the lane's parts of rows.
template <typename T, int kLanePacks, int kStages>
class RowRing {
 public:
  static constexpr int kPack = kAccessBytes / sizeof(T);
  using Ring = PackRing<kOperands * kLanePacks, kStages>;
  using Part = LanePart<T, kPack, kLanePacks>;

  // Starts to fetch the lane's part of a row. Get() then returns zeros where the lane has no part
  // of the row, or if there is no residual.
  __device__ void Fetch(const LayerNormBackward& a, const RowLanes& lanes, int64_t row) {
    if (row < a.rows) {
      const int64_t first = row * a.width;
      const T* dy = static_cast<const T*>(a.dy) + first;
      const T* x = static_cast<const T*>(a.x) + first;
      const T* residual = static_cast<const T*>(a.residual_gradient) + first;
      Part::ForEach(lanes, [&](int p, int at) {
        ring_.Fetch(Number(Operand::kDy, p), dy + at * kPack);
        ring_.Fetch(Number(Operand::kX, p), x + at * kPack);
        if (a.residual_gradient != nullptr) {
          ring_.Fetch(Number(Operand::kResidual, p), residual + at * kPack);
        }
      });
    }
    ring_.End();
  }
  __device__ static void Await() { Ring::Await(); }
  __device__ Pack<T, kPack> Get(Operand operand, int p) const {
    return ring_.template Get<kPack, T>(Number(operand, p));
  }
  __device__ void TakeOff() { ring_.TakeOff(); }

 private:
  __device__ static int Number(Operand operand, int p) {
    return p * kOperands + static_cast<int>(operand);
  }

  Ring ring_;
};

// Adds the row to `sums`. Returns the lane's part of the row's moments.
template <bool kCentred, typename T, int kLanePacks, int kStages>
__device__ RowMoments<Accumulator<T>> AddUp(const RowRing<T, kLanePacks, kStages>& ring,
                                            const RowLanes& lanes,
                                            const RowStatistics<Accumulator<T>>& statistics,
                                            const T* weight, VectorSums<T, kLanePacks>& sums) {
  using A = Accumulator<T>;
  constexpr int kPack = kAccessBytes / sizeof(T);
  RowMoments<A> moments;
  RowRing<T, kLanePacks, kStages>::Part::ForEach(lanes, [&](int p, int at) {
    const auto dys = ring.Get(Operand::kDy, p);
    const auto xs = ring.Get(Operand::kX, p);
    A scale[kPack];
    VectorValues<kPack, T>(weight, at, 1, scale);
    for (int k = 0; k < kPack; ++k) {
      const A dy = Widen(dys.values[k]);
      const A through = dy * (Widen(xs.values[k]) - statistics.mean);
      sums.weight.packs[p].values[k] += through * statistics.rstd;
      moments.dot += through * scale[k];
      if constexpr (kCentred) {
        sums.bias.packs[p].values[k] += dy;
        moments.sum += dy * scale[k];
      }
    }
  });
  moments.dot *= statistics.rstd;
  return moments;
}

// Writes the row's gradient, including the residual's.
template <bool kCentred, typename T, int kLanePacks, int kStages>
__device__ void WriteGradient(const RowRing<T, kLanePacks, kStages>& ring, const RowLanes& lanes,
                              const RowStatistics<Accumulator<T>>& statistics, const T* weight,
                              const RowMoments<Accumulator<T>>& means, T* dx) {
  using A = Accumulator<T>;
  using Ring = RowRing<T, kLanePacks, kStages>;
  const A slope = -statistics.rstd * statistics.rstd * means.dot;
  const A shift = statistics.rstd * means.sum;
  Ring::Part::ForEach(lanes, [&](int p, int at) {
    const auto dys = ring.Get(Operand::kDy, p);
    const auto xs = ring.Get(Operand::kX, p);
    auto result = ring.Get(Operand::kResidual, p);
    A scale[Ring::kPack];
    VectorValues<Ring::kPack, T>(weight, at, 1, scale);
    for (int k = 0; k < Ring::kPack; ++k) {
      T& value = result.values[k];
      const A dnormed = Widen(dys.values[k]) * scale[k];
      A rest = (Widen(xs.values[k]) - statistics.mean) * slope + Widen(value);
      if constexpr (kCentred) rest -= shift;
      Narrow(dnormed * statistics.rstd + rest, value);
    }
    Store<Ring::kPack>(result, dx, at);
  });
}

// Adds a block's sums for the columns to a vector's gradient, unless the gradient is null. `part`
// is the lane's share of the sums.
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
  // Neighbours in a warp add to adjacent columns, which the cache combines.
  const auto threads = static_cast<int>(blockDim.x * blockDim.y);
  for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < width; i += threads) {
    atomicAdd(static_cast<A*>(gradient) + i, columns[i]);
  }
}

// Parameters for rows that are kept in registers. Wider rows (kWider) have more packs per lane.
template <typename T, bool kWider>
struct KeptRows {
  static constexpr int kLanePacks = kWider ? 4 : 2;
  // Rows that are in flight or being processed simultaneously.
  static constexpr int kStages = kWider ? 2 : 3;
  // Threads of the largest blocks.
  static constexpr int kThreads = sizeof(T) == 2 && !kWider ? 256 : kMostRowLanes;
  // How many of the largest blocks fit a multiprocessor's registers.
  static constexpr int kBlocks = kWider ? 1 : (sizeof(T) == 2 ? 3 : 2);

  static constexpr int64_t kMostPacks = int64_t{kLanePacks} * kThreads;
  using Ring = PackRing<kOperands * kLanePacks, kStages>;
};

// Computes all gradients for rows that are kept in registers. A lane has the same columns of all
// rows of its block, so it sums the gradients of weight and bias on its own. dx may be dy: the
// lanes that write a row have read it before.
template <typename T, bool kCentred, bool kWider>
__global__ void __launch_bounds__(KeptRows<T, kWider>::kThreads, KeptRows<T, kWider>::kBlocks)
    RowNormBackwardKernel(LayerNormBackward a, RowLanes lanes) {
  using Kept = KeptRows<T, kWider>;
  using A = Accumulator<T>;
  using Ring = RowRing<T, Kept::kLanePacks, Kept::kStages>;
  using Statistics = RowStatistics<A>;
  Ring ring;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.y;
  int64_t row = RowLanes::FirstRow() + threadIdx.y;
  for (int i = 0; i < Kept::kStages - 1; ++i) ring.Fetch(a, lanes, row + i * step);
  const auto statistics_of = [&](int64_t of) {
    return of < a.rows ? Statistics::template Of<kCentred>(a, of) : Statistics{};
  };
  Statistics next = statistics_of(row);
  const T* weight = static_cast<const T*>(a.weight);
  const A share = 1 / static_cast<A>(a.width);
  VectorSums<T, Kept::kLanePacks> sums;
  RowTotals<A, kCentred ? 2 : 1> totals;
  for (; row - threadIdx.y < a.rows; row += step) {
    const Statistics statistics = next;
    next = statistics_of(row + step);
    ring.Fetch(a, lanes, row + (Kept::kStages - 1) * step);
    Ring::Await();
    RowMoments<A> moments;
    if (row < a.rows) moments = AddUp<kCentred>(ring, lanes, statistics, weight, sums);
    TakeMeans<kCentred>(moments, share, [&](auto& values) { totals.Take(values); });
    if (row < a.rows) {
      WriteGradient<kCentred>(ring, lanes, statistics, weight, moments,
                              static_cast<T*>(a.dx) + row * a.width);
    }
    ring.TakeOff();
  }
  const auto width = static_cast<int>(a.width);
  AddToColumns(lanes, sums.weight, width, a.weight_gradient);
  if constexpr (kCentred) AddToColumns(lanes, sums.bias, width, a.bias_gradient);
}

// Computes the gradients of weight and bias for rows that aren't kept in registers. Must run before
// dx overwrites dy.
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

// Computes dx for rows that are too wide for registers or not in whole packs. The second read of a
// row comes from the cache.
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
    TakeMeans<kCentred>(moments, 1 / static_cast<A>(a.width), [](auto& values) {
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
  using Kept = KeptRows<T, kWider>;
  const dim3 threads = RowThreads(packs, Kept::kLanePacks);
  const size_t shared = std::max(Kept::Ring::Bytes(size_t{threads.x} * threads.y),
                                 static_cast<size_t>(args.width) * sizeof(Accumulator<T>));
  // The grid just fills the GPU, so that a block sums many rows before it writes to memory.
  StartBlocksOf(threads, RowNormBackwardKernel<T, kCentred, kWider>,
                BlocksAtOnce(args.rows, threads, Kept::kThreads * Kept::kBlocks, shared), shared,
                stream, args, RowLanes{static_cast<int>(packs)});
}

// Returns whether lanes can keep rows of `packs` packs.
template <typename T, bool kWider>
bool FitsKept(int64_t packs) {
  using Kept = KeptRows<T, kWider>;
  if (packs > Kept::kMostPacks) return false;
  const dim3 threads = RowThreads(packs, Kept::kLanePacks);
  return FitsBlock(Kept::Ring::Bytes(size_t{threads.x} * threads.y));
}

template <bool kCentred>
void LaunchRowNorm(const LayerNormBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool whole =
        Packs<T>(args.width, {args.dy, args.x, args.weight, args.residual_gradient, args.dx});
    const int64_t packs = args.width * static_cast<int64_t>(sizeof(T)) / kAccessBytes;
    if (whole && FitsKept<T, false>(packs)) {
      LaunchKeptRowNorm<T, kCentred, false>(args, packs, stream);
    } else if (whole && FitsKept<T, true>(packs)) {
      LaunchKeptRowNorm<T, kCentred, true>(args, packs, stream);
    } else {
      LaunchWideRowNorm<T, kCentred>(args, whole, stream);
    }
  });
}

}  // namespace meshwright::kernels::cuda
