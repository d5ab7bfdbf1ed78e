#include <algorithm>

#include "kernels/cuda/lane_part.cuh"
#include "kernels/cuda/row_pieces.cuh"

namespace meshwright::kernels::cuda {
namespace {

// Assigns lanes to heads: as few as have one pack each, a power of two, so that a warp takes
// several heads at once (two of 128 in bf16). Larger heads have more packs per lane.
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
  __device__ int Packs() const { return packs; }
  // Heads that a block takes at a time, and the thread's one among them.
  __host__ __device__ unsigned int BlockHeads() const { return kThreads >> log2_lanes; }
  __device__ unsigned int BlockHead() const { return threadIdx.x >> log2_lanes; }
};

// Supported by the GPU's attention kernels, and fits the lanes' registers.
constexpr int kMostHeadDim = 256;

// Blocks that fit a multiprocessor's registers.
constexpr int ForwardBlocks(int lane_packs) { return lane_packs == 1 ? 5 : 2; }
constexpr int BackwardBlocks(int lane_packs) { return lane_packs == 1 ? 4 : 2; }

// Calls body(where, result of load(exists, where)) for the block's heads, with the whole block at
// once: threads without a head are called too, since warps sum together. The next heads are loaded
// meanwhile.
template <typename Loader, typename Body>
__device__ void ForHeads(const RowPieces& heads, const HeadLanes& lanes, const Loader& load,
                         const Body& body) {
  const uint32_t step = gridDim.x * lanes.BlockHeads();
  uint32_t first = blockIdx.x * lanes.BlockHeads();
  const auto load_from = [&](uint32_t from) {
    RowPiece at;
    const bool exists = heads.Find(blockIdx.y, from + lanes.BlockHead(), at);
    return load(exists, at);
  };
  auto next = load_from(first);
  for (; first < heads.group_pieces(); first += step) {
    auto current = next;
    next = load_from(first + step);
    // Found again, since keeping it would take more registers.
    RowPiece at;
    const bool exists = heads.Find(blockIdx.y, first + lanes.BlockHead(), at);
    body(exists, at, current);
  }
}

// A grid that just fills the GPU, so that no block starts late and many heads are summed before
// they go to memory.
dim3 HeadBlocks(const RowPieces& heads, const HeadLanes& lanes, int blocks_of_multiprocessor) {
  return heads.Grid(lanes.BlockHeads(), int64_t{Multiprocessors()} * blocks_of_multiprocessor);
}

template <typename T, int kPack, int kLanePacks>
__global__ void __launch_bounds__(kThreads, BackwardBlocks(kLanePacks))
    ForwardKernel(HeadNormForward a, RowPieces heads, HeadLanes lanes) {
  using A = Accumulator<T>;
  using Part = LanePart<T, kPack, kLanePacks>;
  const Part weight = Part::Of(lanes, static_cast<const T*>(a.weight), true);
  const auto load = [&](bool exists, const RowPiece& at) {
    const T* x = static_cast<const T*>(a.x) + at.row * a.x_stride + at.piece * a.x_head_stride;
    return Part::Of(lanes, x, exists);
  };
  ForHeads(heads, lanes, load, [&](bool exists, const RowPiece& at, Part& part) {
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

// Adds the block's part of the weight gradient.
template <typename A, int kPack, int kLanePacks>
__device__ void AddWeightGradient(const HeadNormBackward& a, const HeadLanes& lanes,
                                  const LanePart<A, kPack, kLanePacks>& sums) {
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

// A lane has the same columns of every head, so it sums their weight gradient on its own.
template <typename T, int kPack, int kLanePacks>
__global__ void __launch_bounds__(kThreads, BackwardBlocks(kLanePacks))
    BackwardKernel(HeadNormBackward a, RowPieces heads, HeadLanes lanes) {
  using A = Accumulator<T>;
  using Part = LanePart<T, kPack, kLanePacks>;
  const Part weight = Part::Of(lanes, static_cast<const T*>(a.weight), true);
  LanePart<A, kPack, kLanePacks> sums = {};
  struct Operands {
    Part dy;
    Part x;
    A rstd;
  };
  const auto load = [&](bool exists, const RowPiece& at) {
    const T* dy = static_cast<const T*>(a.dy) + at.row * a.dy_stride + at.piece * a.dy_head_stride;
    const T* x = static_cast<const T*>(a.x) + at.row * a.x_stride + at.piece * a.x_head_stride;
    const A* rstd = static_cast<const A*>(a.rstd) + at.row * a.heads + at.piece;
    return Operands{Part::Of(lanes, dy, exists), Part::Of(lanes, x, exists), exists ? *rstd : A{0}};
  };
  ForHeads(heads, lanes, load, [&](bool exists, const RowPiece& at, Operands& head) {
    auto& [dy, x, rstd] = head;
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

// Returns whether heads of arrays starting at `arrays` can be accessed in packs.
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
      Start(ForwardKernel<T, pack(), lane_packs()>,
            HeadBlocks(heads, lanes, ForwardBlocks(lane_packs())), 0, stream, args, heads, lanes);
    });
  });
}

void Launch(const HeadNormBackward& args, cudaStream_t stream) {
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
      Start(BackwardKernel<T, pack(), lane_packs()>,
            HeadBlocks(heads, lanes, BackwardBlocks(lane_packs())), shared, stream, args, heads,
            lanes);
    });
  });
}

}  // namespace meshwright::kernels::cuda
