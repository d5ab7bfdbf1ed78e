#include <algorithm>

#include "kernels/cuda/fast_divide.h"
#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T, int kPack>
__global__ void ForwardKernel(EmbeddingForward a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const int64_t token = a.tokens[row] - a.vocab_begin;
    const bool here = token >= 0 && token < a.vocab_count;
    const T* from = static_cast<const T*>(a.table) + (here ? token : 0) * a.width;
    T* y = static_cast<T*>(a.y) + row * a.width;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      Store<kPack>(here ? Load<kPack>(from, i) : Pack<T, kPack>{}, y, i);
    }
  }
}

// The backward sums the rows of each token before it touches the table's gradient, whose elements
// are read and written by one block each, once unless its list overflows: there are no atomic
// additions, and every run on every GPU gives the same bits.
//
// A block has the tokens of one class (token % gridDim.x) and one slice of columns, one pack per
// lane. It reads all tokens, lists the rows of its own ones, sorts the list by token and row, and
// gives each warp an equal part of it, so that frequent tokens (one in twenty rows, say) keep no
// warp waiting.
//
// The price is that every block reads all tokens, from the L2 cache: 34 MB with 1024 blocks and
// 8,192 tokens, where dy and the gradient of a bf16 model of width 2048 move up to 168 MB of device
// memory. Sorting the tokens once for all blocks would avoid that, but needs a workspace and
// launches that cost more than these reads at the few thousand rows of a micro-batch; letting each
// row search for others of its token costs the square of their number.
constexpr int kWarps = kThreads / kWarp;
constexpr int64_t kSumBlocks = 1024;
constexpr int64_t kRowsPerClass = 32;  // least rows per class, on average
constexpr int kTokensPerThread = 16;   // read at once, since each step waits for its own
constexpr int kStepTokens = kThreads * kTokensPerThread;
constexpr int kFullList = 1024;  // rows that are summed before more are listed
constexpr int kListLength = kFullList + kStepTokens;
constexpr int kRowsAtOnce = 4;  // rows of dy that a warp reads at once

// A row with a token of the block: the token in the upper half, the row in the lower one.
using ListedRow = uint64_t;

__device__ inline uint32_t TokenOf(ListedRow listed) { return static_cast<uint32_t>(listed >> 32); }
__device__ inline int64_t RowOf(ListedRow listed) { return static_cast<uint32_t>(listed); }

template <typename A, int kPack>
struct SumShared {
  ListedRow list[kListLength];
  // Partial sums of a token, for the warp that has the token's first row.
  Pack<A, kPack> partial[kWarps][kWarp];
};

// Appends those of kStepTokens rows from `first` on that have a token of the block, in any order.
__device__ inline void ListRows(const EmbeddingBackward& a, FastDivide classes, int64_t first,
                                ListedRow* list, int* length) {
  int32_t tokens[kTokensPerThread];
  for (int i = 0; i < kTokensPerThread; ++i) {
    const int64_t row = first + i * kThreads + threadIdx.x;
    tokens[i] = row < a.rows ? a.tokens[row] : -1;
  }
  for (int i = 0; i < kTokensPerThread; ++i) {
    const int64_t token = tokens[i] - a.vocab_begin;
    if (tokens[i] < 0 || token < 0 || token >= a.vocab_count) continue;
    if (classes.Remainder(static_cast<uint32_t>(token)) != blockIdx.x) continue;
    const int64_t row = first + i * kThreads + threadIdx.x;
    list[atomicAdd(length, 1)] = static_cast<ListedRow>(token) << 32 | static_cast<ListedRow>(row);
  }
}

// In-place bitonic sort. All entries are distinct, so the result does not depend on their order.
// Each step begins by comparing with the mirrored half, so that the lower position always gets the
// lesser entry and the padding to a power of two can be left out.
__device__ inline void Sort(ListedRow* list, int length) {
  int padded = 1;
  while (padded < length) padded *= 2;
  for (int size = 2; size <= padded; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      const int to_other = distance == size / 2 ? size - 1 : distance;
      for (int i = threadIdx.x; i < padded / 2; i += kThreads) {
        const int low = 2 * i - (i & (distance - 1));
        const int high = low ^ to_other;
        if (high >= length) continue;
        const ListedRow one = list[low];
        const ListedRow other = list[high];
        if (one < other) continue;
        list[low] = other;
        list[high] = one;
      }
      __syncthreads();
    }
  }
}

// A warp's part of the sorted list. A token belongs to the warp with its first row; other warps
// leave their sum of it in shared memory, which can only happen at the beginning of their part.
struct ListPart {
  const ListedRow* list;
  int length;  // of the list
  int begin;
  int end;

  __device__ static int Size(int length) { return (length + kWarps - 1) / kWarps; }
  __device__ static ListPart Of(const ListedRow* list, int length, int warp) {
    const int begin = warp * Size(length);
    const int end = begin + Size(length);
    return {list, length, begin < length ? begin : length, end < length ? end : length};
  }
  // Returns whether the row is the last one of its token.
  __device__ bool Ends(int i) const {
    return i + 1 == length || TokenOf(list[i]) != TokenOf(list[i + 1]);
  }
  // Returns whether the row's token belongs to an earlier warp.
  __device__ bool IsForeign(int i) const {
    return begin > 0 && TokenOf(list[i]) == TokenOf(list[begin - 1]);
  }
};

template <typename A, int kPack>
__device__ void AddTo(Pack<A, kPack>& sum, const Pack<A, kPack>& more) {
  for (int k = 0; k < kPack; ++k) sum.values[k] += more.values[k];
}

// A lane's sum over the rows of its warp, for its pack of columns.
template <typename T, int kPack>
struct LaneSum {
  using A = Accumulator<T>;

  const EmbeddingBackward& a;
  const ListPart part;
  const int64_t pack;
  Pack<A, kPack>* const partial;  // the lane's in warp 0; those of other warps are kWarp apart
  const int warp;
  Pack<A, kPack> sum = {};

  __device__ A* Gradient(int i) const {
    return static_cast<A*>(a.table_gradient) + TokenOf(part.list[i]) * a.width;
  }

  // Adds the rows of the part. Returns whether its last token belongs to this warp and continues in
  // the next part; `sum` then holds this part's rows.
  __device__ bool AddPart() {
    for (int first = part.begin; first < part.end; first += kRowsAtOnce) {
      Pack<T, kPack> dy[kRowsAtOnce] = {};
      Pack<A, kPack> gradient[kRowsAtOnce] = {};
      for (int r = 0; r < kRowsAtOnce; ++r) {
        const int i = first + r;
        if (i >= part.end) continue;
        dy[r] = Load<kPack>(static_cast<const T*>(a.dy) + RowOf(part.list[i]) * a.width, pack);
        if (part.Ends(i) && !part.IsForeign(i)) gradient[r] = Load<kPack>(Gradient(i), pack);
      }
      for (int r = 0; r < kRowsAtOnce; ++r) {
        const int i = first + r;
        if (i >= part.end) continue;
        for (int k = 0; k < kPack; ++k) sum.values[k] += Widen(dy[r].values[k]);
        if (!part.Ends(i)) continue;
        if (part.IsForeign(i)) {
          partial[warp * kWarp] = sum;
        } else {
          AddTo(sum, gradient[r]);
          Store<kPack>(sum, Gradient(i), pack);
        }
        sum = {};
      }
    }
    if (part.begin == part.end || part.Ends(part.end - 1)) return false;
    if (!part.IsForeign(part.end - 1)) return true;
    partial[warp * kWarp] = sum;
    return false;
  }

  // Adds the following warps' sums of the part's last token.
  __device__ void AddPartialSums() {
    const int last = part.end - 1;
    for (int next = warp + 1; next < kWarps; ++next) {
      const int begin = ListPart::Of(part.list, part.length, next).begin;
      if (begin == part.length || TokenOf(part.list[begin]) != TokenOf(part.list[last])) break;
      AddTo(sum, partial[next * kWarp]);
    }
    AddTo(sum, Load<kPack>(Gradient(last), pack));
    Store<kPack>(sum, Gradient(last), pack);
  }
};

// Adds the rows of a sorted list to the gradient.
template <typename T, int kPack>
__device__ void AddRows(const EmbeddingBackward& a, SumShared<Accumulator<T>, kPack>* shared,
                        int length) {
  const int warp = threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  const int64_t pack = static_cast<int64_t>(blockIdx.y) * kWarp + lane;
  LaneSum<T, kPack> sum{.a = a,
                        .part = ListPart::Of(shared->list, length, warp),
                        .pack = pack,
                        .partial = shared->partial[0] + lane,
                        .warp = warp};
  const bool goes_on = pack < a.width / kPack && sum.AddPart();
  __syncthreads();
  if (goes_on) sum.AddPartialSums();
}

template <typename T, int kPack>
__global__ void BackwardKernel(EmbeddingBackward a, FastDivide classes) {
  __shared__ int listed;
  auto* shared = DynamicShared<SumShared<Accumulator<T>, kPack>>();
  if (threadIdx.x == 0) listed = 0;
  __syncthreads();
  for (int64_t first = 0; first < a.rows; first += kStepTokens) {
    ListRows(a, classes, first, shared->list, &listed);
    __syncthreads();
    const int length = listed;
    __syncthreads();
    const bool last = first + kStepTokens >= a.rows;
    if (length == 0 || (!last && length <= kFullList)) continue;
    Sort(shared->list, length);
    AddRows<T, kPack>(a, shared, length);
    if (threadIdx.x == 0) listed = 0;
    __syncthreads();
  }
}

}  // namespace

void Launch(const EmbeddingForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.table, args.y}), [&](auto pack) {
      Start(ForwardKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

void Launch(const EmbeddingBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    using A = Accumulator<T>;
    // Packs are sized for the gradient.
    WithPack<A>(Packs<A>(args.width, {args.dy, args.table_gradient}), [&](auto pack) {
      const int64_t slice_width = kWarp * pack();
      const int64_t slices = std::max<int64_t>((args.width + slice_width - 1) / slice_width, 1);
      const int64_t most_classes = std::max<int64_t>(args.rows / kRowsPerClass, 1);
      const FastDivide classes(std::clamp<int64_t>(kSumBlocks / slices, 1, most_classes));
      Start(BackwardKernel<T, pack()>, dim3(classes.divisor(), static_cast<unsigned int>(slices)),
            sizeof(SumShared<A, pack()>), stream, args, classes);
    });
  });
}

}  // namespace meshwright::kernels::cuda
