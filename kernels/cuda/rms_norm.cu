#include <algorithm>

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// A row is read once: between its statistics and its result it stays in shared memory.
template <typename T, int kPack>
__global__ void ForwardKernel(RmsNormForward a) {
  using A = Accumulator<T>;
  T* row_values = DynamicShared<T>();
  const int64_t packs = a.width / kPack;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* x = static_cast<const T*>(a.x) + row * a.width;
    A squares = 0;
    for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
      auto values = Load<kPack>(x, i);
      if (a.branch != nullptr) {
        const auto branch = Load<kPack>(static_cast<const T*>(a.branch) + row * a.width, i);
        for (int k = 0; k < kPack; ++k) {
          Narrow(Widen(values.values[k]) + Widen(branch.values[k]), values.values[k]);
        }
        Store<kPack>(values, static_cast<T*>(a.sum) + row * a.width, i);
      }
      for (int k = 0; k < kPack; ++k) {
        const A value = Widen(values.values[k]);
        squares += value * value;
      }
      // Every thread comes back for its own packs alone.
      Store<kPack>(values, row_values, i);
    }
    squares = BlockSum(squares);
    const A rstd = 1 / sqrt(squares / static_cast<A>(a.width) + static_cast<A>(a.epsilon));
    if (threadIdx.x == 0) static_cast<A*>(a.rstd)[row] = rstd;
    T* y = static_cast<T*>(a.y) + row * a.width;
    for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
      auto values = Load<kPack>(row_values, i);
      const auto weight = Load<kPack>(static_cast<const T*>(a.weight), i);
      for (int k = 0; k < kPack; ++k) {
        Narrow(Widen(values.values[k]) * rstd * Widen(weight.values[k]), values.values[k]);
      }
      Store<kPack>(values, y, i);
    }
  }
}

// Sums of the columns' weight gradient in shared memory, behind a row of dy and of x where these
// are kept between their dot product and dx; else they are read twice, for rows that a block has no
// room for. A thread has the same columns in every row of its block, so that it can add up without
// meeting other threads; column k of pack i is at k * packs + i, so that the threads of a warp meet
// no other's bank either.
template <typename T, bool kKeepRows>
struct BackwardShared {
  T* dy;
  T* x;
  Accumulator<T>* sums;

  // Whole 128 bits, so that what follows is aligned.
  __host__ __device__ static int64_t RowBytes(int64_t width) {
    if (!kKeepRows) return 0;
    const int64_t bytes = width * static_cast<int64_t>(sizeof(T));
    return (bytes + kAccessBytes - 1) / kAccessBytes * kAccessBytes;
  }
  static size_t Bytes(int64_t width) {
    return static_cast<size_t>(2 * RowBytes(width)) +
           static_cast<size_t>(width) * sizeof(Accumulator<T>);
  }
  __device__ static BackwardShared Of(int64_t width) {
    char* base = DynamicShared<char>();
    return {reinterpret_cast<T*>(base), reinterpret_cast<T*>(base + RowBytes(width)),
            reinterpret_cast<Accumulator<T>*>(base + 2 * RowBytes(width))};
  }
};

// Returns the thread's part of the row's sum of dy * weight * x.
template <int kPack, typename T, bool kKeepRows>
__device__ Accumulator<T> ReadRow(const RmsNormBackward& a, int64_t row, Accumulator<T> rstd,
                                  const BackwardShared<T, kKeepRows>& shared) {
  const T* dy_row = static_cast<const T*>(a.dy) + row * a.width;
  const T* x_row = static_cast<const T*>(a.x) + row * a.width;
  const int64_t packs = a.width / kPack;
  Accumulator<T> dot = 0;
  for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
    const auto dy = Load<kPack>(dy_row, i);
    const auto x = Load<kPack>(x_row, i);
    const auto weight = Load<kPack>(static_cast<const T*>(a.weight), i);
    for (int k = 0; k < kPack; ++k) {
      const Accumulator<T> through = Widen(dy.values[k]) * Widen(x.values[k]);
      shared.sums[k * packs + i] += through * rstd;
      dot += through * Widen(weight.values[k]);
    }
    if constexpr (kKeepRows) {
      Store<kPack>(dy, shared.dy, i);
      Store<kPack>(x, shared.x, i);
    }
  }
  return dot;
}

// dx may be dy: each pack is read before it is written, by the one thread that has it.
template <int kPack, typename T, bool kKeepRows>
__device__ void WriteRow(const RmsNormBackward& a, int64_t row, Accumulator<T> rstd,
                         Accumulator<T> mean, const BackwardShared<T, kKeepRows>& shared) {
  const T* dy_row = kKeepRows ? shared.dy : static_cast<const T*>(a.dy) + row * a.width;
  const T* x_row = kKeepRows ? shared.x : static_cast<const T*>(a.x) + row * a.width;
  T* dx_row = static_cast<T*>(a.dx) + row * a.width;
  for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
    const auto dy = Load<kPack>(dy_row, i);
    const auto x = Load<kPack>(x_row, i);
    const auto weight = Load<kPack>(static_cast<const T*>(a.weight), i);
    Pack<T, kPack> residual = {};
    if (a.residual_gradient != nullptr) {
      residual = Load<kPack>(static_cast<const T*>(a.residual_gradient) + row * a.width, i);
    }
    Pack<T, kPack> dx;
    for (int k = 0; k < kPack; ++k) {
      const Accumulator<T> through =
          rstd * (Widen(dy.values[k]) * Widen(weight.values[k]) - Widen(x.values[k]) * mean);
      Narrow(Widen(residual.values[k]) + through, dx.values[k]);
    }
    Store<kPack>(dx, dx_row, i);
  }
}

template <typename T, int kPack, bool kKeepRows>
__global__ void BackwardKernel(RmsNormBackward a) {
  using A = Accumulator<T>;
  const auto shared = BackwardShared<T, kKeepRows>::Of(a.width);
  const int64_t packs = a.width / kPack;
  for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
    for (int k = 0; k < kPack; ++k) shared.sums[k * packs + i] = 0;
  }
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const A rstd = static_cast<const A*>(a.rstd)[row];
    const A dot = BlockSum(ReadRow<kPack>(a, row, rstd, shared));
    WriteRow<kPack>(a, row, rstd, dot * rstd * rstd / static_cast<A>(a.width), shared);
  }
  if (a.weight_gradient == nullptr) return;
  __syncthreads();
  // Neighbours in a warp add to neighbouring columns, which the cache takes together.
  for (int64_t column = threadIdx.x; column < a.width; column += kThreads) {
    atomicAdd(static_cast<A*>(a.weight_gradient) + column,
              shared.sums[column % kPack * packs + column / kPack]);
  }
}

}  // namespace

void Launch(const RmsNormForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs = Packs<T>(args.width, {args.x, args.branch, args.sum, args.weight, args.y});
    WithPack<T>(packs, [&](auto pack) {
      Start(ForwardKernel<T, pack()>, BlocksForRows(args.rows),
            static_cast<size_t>(args.width) * sizeof(T), stream, args);
    });
  });
}

void Launch(const RmsNormBackward& args, cudaStream_t stream) {
  // Few blocks, so that the sums of many rows meet before they go to memory.
  const unsigned int blocks = std::min(512u, BlocksForRows(args.rows));
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs =
        Packs<T>(args.width, {args.dy, args.x, args.weight, args.residual_gradient, args.dx});
    const size_t keep_bytes = BackwardShared<T, true>::Bytes(args.width);
    const size_t sum_bytes = BackwardShared<T, false>::Bytes(args.width);
    WithPack<T>(packs, [&](auto pack) {
      if (FitsBlock(keep_bytes)) {
        Start(BackwardKernel<T, pack(), true>, blocks, keep_bytes, stream, args);
      } else {
        Start(BackwardKernel<T, pack(), false>, blocks, sum_bytes, stream, args);
      }
    });
  });
}

}  // namespace meshwright::kernels::cuda
