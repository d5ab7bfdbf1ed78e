#include "kernels/cuda/column_sums.cuh"

namespace meshwright::kernels::cuda {
namespace {

// What the weight or the bias has for a pack of columns; `none` without one.
template <int kPack, typename T>
__device__ void Values(const void* vector, int64_t pack, Accumulator<T> none,
                       Accumulator<T> (&values)[kPack]) {
  if (vector == nullptr) {
    for (int k = 0; k < kPack; ++k) values[k] = none;
    return;
  }
  const auto loaded = Load<kPack>(static_cast<const T*>(vector), pack);
  for (int k = 0; k < kPack; ++k) values[k] = Widen(loaded.values[k]);
}

// Puts the thread's part of the row, or of its sum with the branch, into shared memory, and returns
// what it adds up to.
template <int kPack, typename T>
__device__ Accumulator<T> ReadRow(const LayerNormForward& a, int64_t row, T* row_values) {
  const T* x = static_cast<const T*>(a.x) + row * a.width;
  Accumulator<T> sum = 0;
  for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
    auto values = Load<kPack>(x, i);
    if (a.branch != nullptr) {
      const auto branch = Load<kPack>(static_cast<const T*>(a.branch) + row * a.width, i);
      for (int k = 0; k < kPack; ++k) {
        Narrow(Widen(values.values[k]) + Widen(branch.values[k]), values.values[k]);
      }
      Store<kPack>(values, static_cast<T*>(a.sum) + row * a.width, i);
    }
    for (int k = 0; k < kPack; ++k) sum += Widen(values.values[k]);
    Store<kPack>(values, row_values, i);
  }
  return sum;
}

// A row is read once: between its statistics and its result it stays in shared memory, where every
// thread comes back for its own packs alone.
template <typename T, int kPack>
__global__ void ForwardKernel(LayerNormForward a) {
  using A = Accumulator<T>;
  T* row_values = DynamicShared<T>();
  const int64_t packs = a.width / kPack;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const A mean = BlockSum(ReadRow<kPack>(a, row, row_values)) / static_cast<A>(a.width);
    A squares = 0;
    for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
      const auto values = Load<kPack>(row_values, i);
      for (int k = 0; k < kPack; ++k) {
        const A value = Widen(values.values[k]) - mean;
        squares += value * value;
      }
    }
    squares = BlockSum(squares);
    const A rstd = 1 / sqrt(squares / static_cast<A>(a.width) + static_cast<A>(a.epsilon));
    if (threadIdx.x == 0) {
      static_cast<A*>(a.statistics)[row] = rstd;
      static_cast<A*>(a.statistics)[a.rows + row] = mean;
    }
    T* y = static_cast<T*>(a.y) + row * a.width;
    for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
      auto values = Load<kPack>(row_values, i);
      A scale[kPack];
      A shift[kPack];
      Values<kPack, T>(a.weight, i, 1, scale);
      Values<kPack, T>(a.bias, i, 0, shift);
      for (int k = 0; k < kPack; ++k) {
        Narrow((Widen(values.values[k]) - mean) * rstd * scale[k] + shift[k], values.values[k]);
      }
      Store<kPack>(values, y, i);
    }
  }
}

// The gradients of weight and bias, before dx takes the place of dy.
template <typename T>
__global__ void VectorsKernel(LayerNormBackward a, RowGroups groups) {
  using A = Accumulator<T>;
  const A* statistics = static_cast<const A*>(a.statistics);
  ForColumnOfThread(a.rows, a.width, groups, [&](int64_t column, int64_t first, int64_t end) {
    const T* dy = static_cast<const T*>(a.dy) + column;
    const T* x = static_cast<const T*>(a.x) + column;
    A weight = 0;
    A bias = 0;
    for (int64_t row = first; row < end; ++row) {
      const A d = Widen(dy[row * a.width]);
      weight += d * (Widen(x[row * a.width]) - statistics[a.rows + row]) * statistics[row];
      bias += d;
    }
    atomicAdd(static_cast<A*>(a.weight_gradient) + column, weight);
    if (a.bias_gradient != nullptr) atomicAdd(static_cast<A*>(a.bias_gradient) + column, bias);
  });
}

// A row comes from memory the first time, and from the cache the second. dx may be dy: each pack is
// read before it is written, by the one thread that has it.
template <typename T, int kPack>
__global__ void BackwardKernel(LayerNormBackward a) {
  using A = Accumulator<T>;
  const int64_t packs = a.width / kPack;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* dy_row = static_cast<const T*>(a.dy) + row * a.width;
    const T* x_row = static_cast<const T*>(a.x) + row * a.width;
    T* dx_row = static_cast<T*>(a.dx) + row * a.width;
    const A rstd = static_cast<const A*>(a.statistics)[row];
    const A mean = static_cast<const A*>(a.statistics)[a.rows + row];
    A scale[kPack];
    A sum = 0;
    A dot = 0;
    for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
      const auto dy = Load<kPack>(dy_row, i);
      const auto x = Load<kPack>(x_row, i);
      Values<kPack, T>(a.weight, i, 1, scale);
      for (int k = 0; k < kPack; ++k) {
        const A through = Widen(dy.values[k]) * scale[k];
        sum += through;
        dot += through * (Widen(x.values[k]) - mean) * rstd;
      }
    }
    sum = BlockSum(sum) / static_cast<A>(a.width);
    dot = BlockSum(dot) / static_cast<A>(a.width);
    for (int64_t i = threadIdx.x; i < packs; i += kThreads) {
      auto dy = Load<kPack>(dy_row, i);
      const auto x = Load<kPack>(x_row, i);
      Values<kPack, T>(a.weight, i, 1, scale);
      Pack<T, kPack> residual = {};
      if (a.residual_gradient != nullptr) {
        residual = Load<kPack>(static_cast<const T*>(a.residual_gradient) + row * a.width, i);
      }
      for (int k = 0; k < kPack; ++k) {
        const A normed = (Widen(x.values[k]) - mean) * rstd;
        const A through = rstd * (Widen(dy.values[k]) * scale[k] - sum - normed * dot);
        Narrow(Widen(residual.values[k]) + through, dy.values[k]);
      }
      Store<kPack>(dy, dx_row, i);
    }
  }
}

}  // namespace

void Launch(const LayerNormForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs =
        Packs<T>(args.width, {args.x, args.branch, args.sum, args.weight, args.bias, args.y});
    WithPack<T>(packs, [&](auto pack) {
      Start(ForwardKernel<T, pack()>, BlocksForRows(args.rows),
            static_cast<size_t>(args.width) * sizeof(T), stream, args);
    });
  });
}

void Launch(const LayerNormBackward& args, cudaStream_t stream) {
  const RowGroups groups(args.rows, args.width);
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    if (args.weight_gradient != nullptr) {
      Start(VectorsKernel<T>, groups.Grid(), 0, stream, args, groups);
    }
    const bool packs =
        Packs<T>(args.width, {args.dy, args.x, args.weight, args.residual_gradient, args.dx});
    WithPack<T>(packs, [&](auto pack) {
      Start(BackwardKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
