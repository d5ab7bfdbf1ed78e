#include <algorithm>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_pieces.cuh"

namespace meshwright::kernels::cuda {
namespace {

// Which lanes have a head: as few as have one pack of it each, a power of two, so that a warp takes
// several heads at once (two of 128 in bf16). Larger heads have more packs for each lane.
struct HeadLanes {
  int log2_lanes;
  int packs;  // of a head

  template <int kPack>
  static HeadLanes Of(int64_t head_dim) {
    const auto packs = static_cast<int>(head_dim / kPack);
    HeadLanes result = {.log2_lanes = 0, .packs = packs};
    while (1 << result.log2_lanes < std::min(packs, kWarp)) ++result.log2_lanes;
    return result;
  }
  __device__ int Lanes() const { return 1 << log2_lanes; }
  __device__ int Lane() const { return static_cast<int>(threadIdx.x) & (Lanes() - 1); }
  // That a block takes at a time, and which of them the thread has part in.
  __host__ __device__ unsigned int BlockHeads() const { return kThreads >> log2_lanes; }
  __device__ unsigned int BlockHead() const { return threadIdx.x >> log2_lanes; }
};

// What the device's attention kernels take, and lanes can keep in registers.
constexpr int kMostHeadDim = 256;

// What a lane has of a head: pack Lane() and every lanes-th behind it.
template <typename T, int kPack, int kLanePacks>
struct HeadPart {
  Pack<T, kPack> packs[kLanePacks];

  // Calls body(pack of the lane, pack of the head) for those that there are.
  template <typename Body>
  __device__ static void ForEach(const HeadLanes& lanes, const Body& body) {
    for (int p = 0; p < kLanePacks; ++p) {
      const int at = lanes.Lane() + p * lanes.Lanes();
      if (at < lanes.packs) body(p, at);
    }
  }
  // Zeros where the lane has no part of the head.
  __device__ static HeadPart Of(const HeadLanes& lanes, const T* head, bool exists) {
    HeadPart part = {};
    if (!exists) return part;
    ForEach(lanes, [&](int p, int at) { part.packs[p] = Load<kPack>(head, at); });
    return part;
  }
  __device__ void StoreTo(const HeadLanes& lanes, T* head) const {
    ForEach(lanes, [&](int p, int at) { Store<kPack>(packs[p], head, at); });
  }
};

// Calls body(exists, head), all of the block at once, for the heads that the block takes; threads
// that have none are called too, since warps add up together.
template <typename Body>
__device__ void ForHeads(const RowPieces& heads, const HeadLanes& lanes, const Body& body) {
  const uint32_t step = gridDim.x * lanes.BlockHeads();
  for (uint32_t first = blockIdx.x * lanes.BlockHeads(); first < heads.group_pieces();
       first += step) {
    RowPiece head;
    const bool exists = heads.Find(blockIdx.y, first + lanes.BlockHead(), head);
    body(exists, head);
  }
}

template <typename T, int kPack, int kLanePacks>
__global__ void ForwardKernel(HeadNormForward a, RowPieces heads, HeadLanes lanes) {
  using A = Accumulator<T>;
  using Part = HeadPart<T, kPack, kLanePacks>;
  const Part weight = Part::Of(lanes, static_cast<const T*>(a.weight), true);
  ForHeads(heads, lanes, [&](bool exists, const RowPiece& at) {
    const T* x = static_cast<const T*>(a.x) + at.row * a.x_stride + at.piece * a.x_head_stride;
    Part part = Part::Of(lanes, x, exists);
    A squares = 0;
    for (const auto& pack : part.packs) {
      for (const T value : pack.values) squares += Widen(value) * Widen(value);
    }
    squares = SumOfLanes(squares, lanes.Lanes());
    const A rstd = 1 / sqrt(squares / static_cast<A>(a.head_dim) + static_cast<A>(a.epsilon));
    if (!exists) return;
    if (lanes.Lane() == 0) static_cast<A*>(a.rstd)[at.row * a.heads + at.piece] = rstd;
    for (int p = 0; p < kLanePacks; ++p) {
      for (int k = 0; k < kPack; ++k) {
        T& value = part.packs[p].values[k];
        Narrow(Widen(value) * rstd * Widen(weight.packs[p].values[k]), value);
      }
    }
    part.StoreTo(lanes, static_cast<T*>(a.y) + at.row * a.y_stride + at.piece * a.y_head_stride);
  });
}

// Adds what the block's lanes have of the weight gradient to it.
template <typename A, int kPack, int kLanePacks>
__device__ void AddWeightGradient(const HeadNormBackward& a, const HeadLanes& lanes,
                                  const HeadPart<A, kPack, kLanePacks>& sums) {
  A* block_sums = DynamicShared<A>();  // [BlockHeads(), head_dim]
  sums.StoreTo(lanes, block_sums + lanes.BlockHead() * a.head_dim);
  __syncthreads();
  for (int64_t i = threadIdx.x; i < a.head_dim; i += kThreads) {
    A sum = 0;
    for (unsigned int head = 0; head < lanes.BlockHeads(); ++head) {
      sum += block_sums[head * a.head_dim + i];
    }
    atomicAdd(static_cast<A*>(a.weight_gradient) + i, sum);
  }
}

// A lane has the same columns of every head, so that it can add up their weight gradient without
// meeting others.
template <typename T, int kPack, int kLanePacks>
__global__ void BackwardKernel(HeadNormBackward a, RowPieces heads, HeadLanes lanes) {
  using A = Accumulator<T>;
  using Part = HeadPart<T, kPack, kLanePacks>;
  const Part weight = Part::Of(lanes, static_cast<const T*>(a.weight), true);
  HeadPart<A, kPack, kLanePacks> sums = {};
  ForHeads(heads, lanes, [&](bool exists, const RowPiece& at) {
    const T* dy_head =
        static_cast<const T*>(a.dy) + at.row * a.dy_stride + at.piece * a.dy_head_stride;
    const T* x_head = static_cast<const T*>(a.x) + at.row * a.x_stride + at.piece * a.x_head_stride;
    Part dy = Part::Of(lanes, dy_head, exists);
    const Part x = Part::Of(lanes, x_head, exists);
    const A rstd = exists ? static_cast<const A*>(a.rstd)[at.row * a.heads + at.piece] : A{0};
    A dot = 0;
    for (int p = 0; p < kLanePacks; ++p) {
      for (int k = 0; k < kPack; ++k) {
        const A through = Widen(dy.packs[p].values[k]) * Widen(x.packs[p].values[k]);
        sums.packs[p].values[k] += through * rstd;
        dot += through * Widen(weight.packs[p].values[k]);
      }
    }
    const A mean = SumOfLanes(dot, lanes.Lanes()) * rstd * rstd / static_cast<A>(a.head_dim);
    if (!exists) return;
    for (int p = 0; p < kLanePacks; ++p) {
      for (int k = 0; k < kPack; ++k) {
        T& value = dy.packs[p].values[k];
        const A through = Widen(value) * Widen(weight.packs[p].values[k]);
        Narrow(rstd * (through - Widen(x.packs[p].values[k]) * mean), value);
      }
    }
    dy.StoreTo(lanes, static_cast<T*>(a.dx) + at.row * a.dx_stride + at.piece * a.dx_head_stride);
  });
  AddWeightGradient<A, kPack, kLanePacks>(a, lanes, sums);
}

// Whether heads of arrays that begin at `arrays` can be accessed in packs.
template <typename T>
bool HeadPacks(std::initializer_list<int64_t> lengths, std::initializer_list<const void*> arrays) {
  return std::all_of(lengths.begin(), lengths.end(),
                     [&](int64_t length) { return Packs<T>(length, arrays); });
}

// Calls body(elements of a pack, packs of a lane), as constants. Throws where a head is too large.
template <typename T, typename Body>
void WithHeadPacks(bool packs, int64_t head_dim, const Body& body) {
  if (head_dim > kMostHeadDim) {
    throw std::out_of_range("CUDA kernel: a norm of heads of " + std::to_string(head_dim) +
                            "; up to " + std::to_string(kMostHeadDim) + " are possible");
  }
  WithPack<T>(packs, [&](auto pack) {
    constexpr int kMostLanePacks = kMostHeadDim / kWarp / pack();
    if (head_dim <= kWarp * pack()) return body(pack, std::integral_constant<int, 1>{});
    body(pack, std::integral_constant<int, kMostLanePacks>{});
  });
}

}  // namespace

void Launch(const HeadNormForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs = HeadPacks<T>(
        {args.head_dim, args.x_stride, args.x_head_stride, args.y_stride, args.y_head_stride},
        {args.x, args.weight, args.y});
    WithHeadPacks<T>(packs, args.head_dim, [&](auto pack, auto lane_packs) {
      const HeadLanes lanes = HeadLanes::Of<pack()>(args.head_dim);
      const RowPieces heads(args.rows, args.heads);
      Start(ForwardKernel<T, pack(), lane_packs()>, heads.Grid(lanes.BlockHeads(), kMaxBlocks), 0,
            stream, args, heads, lanes);
    });
  });
}

void Launch(const HeadNormBackward& args, cudaStream_t stream) {
  // Few blocks, so that the sums of many heads meet before they go to memory.
  constexpr int64_t kBlocks = 512;
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs =
        HeadPacks<T>({args.head_dim, args.dy_stride, args.dy_head_stride, args.x_stride,
                      args.x_head_stride, args.dx_stride, args.dx_head_stride},
                     {args.dy, args.x, args.weight, args.dx});
    WithHeadPacks<T>(packs, args.head_dim, [&](auto pack, auto lane_packs) {
      const HeadLanes lanes = HeadLanes::Of<pack()>(args.head_dim);
      const RowPieces heads(args.rows, args.heads);
      const size_t shared =
          lanes.BlockHeads() * static_cast<size_t>(args.head_dim) * sizeof(Accumulator<T>);
      Start(BackwardKernel<T, pack(), lane_packs()>, heads.Grid(lanes.BlockHeads(), kBlocks),
            shared, stream, args, heads, lanes);
    });
  });
}

}  // namespace meshwright::kernels::cuda
