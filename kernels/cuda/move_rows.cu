#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// Returns the row of an index, 0 for a negative one. In 32 bits, as GPUs divide 64 bits slowly.
__device__ int64_t RowOf(int32_t index, const GatherRows& a) {
  return index < 0 ? 0 : index / static_cast<int32_t>(a.divisor);
}

// A thread has one pack of columns throughout, a block one row at a time.
template <typename T, int kPack>
__global__ void GatherKernel(GatherRows a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const int32_t index = a.index[row];
    const T* from = static_cast<const T*>(a.x) + RowOf(index, a) * a.width;
    T* y = static_cast<T*>(a.y) + row * a.width;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      Store<kPack>(index < 0 ? Pack<T, kPack>{} : Load<kPack>(from, i), y, i);
    }
  }
}

template <typename T, int kPack>
__global__ void ScatterKernel(ScatterRows a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* x = static_cast<const T*>(a.x) + row * a.width;
    T* to = static_cast<T*>(a.y) + a.index[row] * a.width;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      Store<kPack>(Load<kPack>(x, i), to, i);
    }
  }
}

template <typename T, int kPack>
__global__ void SumKernel(SumRows a) {
  using A = Accumulator<T>;
  const T* x = static_cast<const T*>(a.x);
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    T* y = static_cast<T*>(a.y) + row * a.width;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      A sums[kPack] = {};
      for (int64_t j = 0; j < a.terms; ++j) {
        const int64_t from = a.index[row * a.terms + j];
        if (from < 0) continue;
        const auto term = Load<kPack>(x + from * a.width, i);
        for (int k = 0; k < kPack; ++k) sums[k] += Widen(term.values[k]);
      }
      Pack<T, kPack> sum;
      for (int k = 0; k < kPack; ++k) Narrow(sums[k], sum.values[k]);
      Store<kPack>(sum, y, i);
    }
  }
}

// For rows of one element, one per thread.
template <typename T>
__global__ void GatherElementsKernel(GatherRows a) {
  const int64_t row = GlobalThread();
  if (row >= a.rows) return;
  const int32_t index = a.index[row];
  static_cast<T*>(a.y)[row] = index < 0 ? T{} : static_cast<const T*>(a.x)[RowOf(index, a)];
}

template <typename T>
__global__ void ScatterElementsKernel(ScatterRows a) {
  const int64_t row = GlobalThread();
  if (row >= a.rows) return;
  static_cast<T*>(a.y)[a.index[row]] = static_cast<const T*>(a.x)[row];
}

}  // namespace

void Launch(const GatherRows& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    if (args.width == 1) {
      Start(GatherElementsKernel<T>, BlocksToCover(args.rows), 0, stream, args);
      return;
    }
    WithPack<T>(Packs<T>(args.width, {args.x, args.y}), [&](auto pack) {
      Start(GatherKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

void Launch(const ScatterRows& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    if (args.width == 1) {
      Start(ScatterElementsKernel<T>, BlocksToCover(args.rows), 0, stream, args);
      return;
    }
    WithPack<T>(Packs<T>(args.width, {args.x, args.y}), [&](auto pack) {
      Start(ScatterKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

void Launch(const SumRows& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.x, args.y}), [&](auto pack) {
      Start(SumKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
