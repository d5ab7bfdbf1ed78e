#include "kernels/cuda/head_blocks.cuh"
#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// Factors of a query head's output and of the part's, and its new log-sum-exp.
template <typename A>
struct Weights {
  A keep;
  A take;
  A log_sum_exp;
};

template <typename A>
__device__ Weights<A> WeightsOf(A before, A part) {
  if (part == -INFINITY) return {.keep = 1, .take = 0, .log_sum_exp = before};
  const A max = before > part ? before : part;
  const A keep = FastExp(before - max);
  const A take = FastExp(part - max);
  const A sum = keep + take;
  return {.keep = keep / sum, .take = take / sum, .log_sum_exp = max + log(sum)};
}

// Packs of the output that a thread holds at once; they may be twice as wide as the part's.
constexpr int kAtOnce = 2;

// A thread first computes a head's factors, for all threads with packs of it.
template <typename T, int kPack>
__global__ void MergeKernel(AttentionMerge a, HeadBlocks heads) {
  using A = Accumulator<T>;
  __shared__ Weights<A> weights[kThreads];
  if (HeadPlace of; heads.Find(threadIdx.x, of)) {
    A* before = static_cast<A*>(a.log_sum_exp) +
                OffsetOf(a.log_sum_exp_strides, of.batch, of.query, of.head);
    const A part = static_cast<const A*>(
        a.part_log_sum_exp)[OffsetOf(a.part_log_sum_exp_strides, of.batch, of.query, of.head)];
    weights[threadIdx.x] = WeightsOf(*before, part);
    *before = weights[threadIdx.x].log_sum_exp;
  }
  __syncthreads();
  for (uint32_t first = threadIdx.x; first < heads.packs(); first += kAtOnce * kThreads) {
    A* places[kAtOnce] = {};
    A keep[kAtOnce] = {};
    A take[kAtOnce] = {};
    Pack<A, kPack> outputs[kAtOnce];
    Pack<T, kPack> parts[kAtOnce];
    for (int n = 0; n < kAtOnce; ++n) {
      HeadPack at;
      if (!heads.Find(first + n * kThreads, at) || weights[at.number].take == 0) continue;
      const HeadPlace& of = at.place;
      keep[n] = weights[at.number].keep;
      take[n] = weights[at.number].take;
      parts[n] = Load<kPack>(static_cast<const T*>(a.part_output) +
                                 OffsetOf(a.part_output_strides, of.batch, of.query, of.head),
                             at.pack);
      places[n] = static_cast<A*>(a.output) +
                  OffsetOf(a.output_strides, of.batch, of.query, of.head) + at.pack * kPack;
      outputs[n] = Load<kPack>(places[n], 0);
    }
    for (int n = 0; n < kAtOnce; ++n) {
      if (places[n] == nullptr) continue;
      for (int k = 0; k < kPack; ++k) {
        // The output is undefined where there were no keys.
        const A kept = keep[n] == 0 ? A{0} : keep[n] * outputs[n].values[k];
        outputs[n].values[k] = kept + take[n] * Widen(parts[n].values[k]);
      }
      Store<kPack>(outputs[n], places[n], 0);
    }
  }
}

template <typename T>
bool MergePacks(const AttentionMerge& args) {
  const auto pieces = [&](int64_t length) {
    return Packs<T>(length, {args.output, args.part_output});
  };
  const HeadStrides& to = args.output_strides;
  const HeadStrides& from = args.part_output_strides;
  return pieces(args.head_dim) && pieces(to.batch) && pieces(to.query) && pieces(to.head) &&
         pieces(from.batch) && pieces(from.query) && pieces(from.head);
}

}  // namespace

void Launch(const AttentionMerge& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(MergePacks<T>(args), [&](auto pack) {
      const HeadBlocks heads(args.batch, args.queries, args.heads, args.head_dim / pack());
      Start(MergeKernel<T, pack()>, heads.Grid(), 0, stream, args, heads);
    });
  });
}

}  // namespace meshwright::kernels::cuda
