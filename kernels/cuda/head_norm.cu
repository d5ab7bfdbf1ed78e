#include <algorithm>

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

constexpr int kWarps = kThreads / kWarp;

__device__ int64_t Lane() { return threadIdx.x % kWarp; }
// Heads are taken one per warp; these count the warps of the grid.
__device__ int64_t GlobalWarp() { return GlobalThread() / kWarp; }
__device__ int64_t GridWarps() { return GridThreads() / kWarp; }

template <typename T, int kPack>
__global__ void ForwardKernel(HeadNormForward a) {
  using A = Accumulator<T>;
  const int64_t packs = a.head_dim / kPack;
  for (int64_t index = GlobalWarp(); index < a.rows * a.heads; index += GridWarps()) {
    const int64_t row = index / a.heads;
    const int64_t head = index % a.heads;
    const T* x = static_cast<const T*>(a.x) + row * a.x_stride + head * a.x_head_stride;
    T* y = static_cast<T*>(a.y) + row * a.y_stride + head * a.y_head_stride;
    A squares = 0;
    for (int64_t i = Lane(); i < packs; i += kWarp) {
      const auto values = Load<kPack>(x, i);
      for (int k = 0; k < kPack; ++k) squares += Widen(values.values[k]) * Widen(values.values[k]);
    }
    squares = WarpSum(squares);
    const A rstd = 1 / sqrt(squares / static_cast<A>(a.head_dim) + static_cast<A>(a.epsilon));
    if (Lane() == 0) static_cast<A*>(a.rstd)[index] = rstd;
    for (int64_t i = Lane(); i < packs; i += kWarp) {
      auto values = Load<kPack>(x, i);
      const auto weight = Load<kPack>(static_cast<const T*>(a.weight), i);
      for (int k = 0; k < kPack; ++k) {
        Narrow(Widen(values.values[k]) * rstd * Widen(weight.values[k]), values.values[k]);
      }
      Store<kPack>(values, y, i);
    }
  }
}

// The gradient of one head, a warp's work. A lane has the same columns of every head, so that it
// can add up their weight gradient in `sums` without meeting others.
template <typename T, int kPack>
__device__ void BackwardHead(const HeadNormBackward& a, int64_t index, Accumulator<T>* sums) {
  using A = Accumulator<T>;
  const int64_t row = index / a.heads;
  const int64_t head = index % a.heads;
  const T* dy_head = static_cast<const T*>(a.dy) + row * a.dy_stride + head * a.dy_head_stride;
  const T* x_head = static_cast<const T*>(a.x) + row * a.x_stride + head * a.x_head_stride;
  T* dx_head = static_cast<T*>(a.dx) + row * a.dx_stride + head * a.dx_head_stride;
  const int64_t packs = a.head_dim / kPack;
  const A rstd = static_cast<const A*>(a.rstd)[index];
  A dot = 0;
  for (int64_t i = Lane(); i < packs; i += kWarp) {
    const auto dy = Load<kPack>(dy_head, i);
    const auto x = Load<kPack>(x_head, i);
    const auto weight = Load<kPack>(static_cast<const T*>(a.weight), i);
    for (int k = 0; k < kPack; ++k) {
      const A through = Widen(dy.values[k]) * Widen(x.values[k]);
      sums[i * kPack + k] += through * rstd;
      dot += through * Widen(weight.values[k]);
    }
  }
  const A mean = WarpSum(dot) * rstd * rstd / static_cast<A>(a.head_dim);
  for (int64_t i = Lane(); i < packs; i += kWarp) {
    auto dy = Load<kPack>(dy_head, i);
    const auto x = Load<kPack>(x_head, i);
    const auto weight = Load<kPack>(static_cast<const T*>(a.weight), i);
    for (int k = 0; k < kPack; ++k) {
      Narrow(rstd * (Widen(dy.values[k]) * Widen(weight.values[k]) - Widen(x.values[k]) * mean),
             dy.values[k]);
    }
    Store<kPack>(dy, dx_head, i);
  }
}

template <typename T, int kPack>
__global__ void BackwardKernel(HeadNormBackward a) {
  using A = Accumulator<T>;
  A* sums = DynamicShared<A>();  // [kWarps, head_dim]
  for (int64_t i = threadIdx.x; i < kWarps * a.head_dim; i += kThreads) sums[i] = 0;
  __syncthreads();
  A* own_sums = sums + threadIdx.x / kWarp * a.head_dim;
  for (int64_t index = GlobalWarp(); index < a.rows * a.heads; index += GridWarps()) {
    BackwardHead<T, kPack>(a, index, own_sums);
  }
  __syncthreads();
  for (int64_t i = threadIdx.x; i < a.head_dim; i += kThreads) {
    A sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += sums[warp * a.head_dim + i];
    atomicAdd(static_cast<A*>(a.weight_gradient) + i, sum);
  }
}

// Whether heads of arrays that begin at `arrays` can be accessed in packs.
template <typename T>
bool HeadPacks(std::initializer_list<int64_t> lengths, std::initializer_list<const void*> arrays) {
  return std::all_of(lengths.begin(), lengths.end(),
                     [&](int64_t length) { return Packs<T>(length, arrays); });
}

}  // namespace

void Launch(const HeadNormForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs = HeadPacks<T>(
        {args.head_dim, args.x_stride, args.x_head_stride, args.y_stride, args.y_head_stride},
        {args.x, args.weight, args.y});
    WithPack<T>(packs, [&](auto pack) {
      Start(ForwardKernel<T, pack()>, BlocksFor(args.rows * args.heads * kWarp), 0, stream, args);
    });
  });
}

void Launch(const HeadNormBackward& args, cudaStream_t stream) {
  // Few blocks, so that the sums of many heads meet before they go to memory.
  const unsigned int blocks = std::min(512u, BlocksFor(args.rows * args.heads * kWarp));
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs =
        HeadPacks<T>({args.head_dim, args.dy_stride, args.dy_head_stride, args.x_stride,
                      args.x_head_stride, args.dx_stride, args.dx_head_stride},
                     {args.dy, args.x, args.weight, args.dx});
    const size_t shared = static_cast<size_t>(kWarps * args.head_dim) * sizeof(Accumulator<T>);
    WithPack<T>(packs,
                [&](auto pack) { Start(BackwardKernel<T, pack()>, blocks, shared, stream, args); });
  });
}

}  // namespace meshwright::kernels::cuda
