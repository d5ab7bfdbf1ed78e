#include "kernels/cuda/launch.cuh"
#include "kernels/head_strides.h"

namespace meshwright::kernels::cuda {
namespace {

// What a query's head keeps of its output and takes of the part's, and its new log-sum-exp.
template <typename A>
struct Weights {
  A keep;
  A take;
  A log_sum_exp;
};

template <typename A>
__device__ Weights<A> WeightsOf(const AttentionMerge& a, uint32_t batch, uint32_t query,
                                uint32_t head) {
  const A before =
      static_cast<const A*>(a.log_sum_exp)[OffsetOf(a.log_sum_exp_strides, batch, query, head)];
  const A part = static_cast<const A*>(
      a.part_log_sum_exp)[OffsetOf(a.part_log_sum_exp_strides, batch, query, head)];
  if (part == -INFINITY) return {.keep = 1, .take = 0, .log_sum_exp = before};
  const A max = before > part ? before : part;
  const A keep = FastExp(before - max);
  const A take = FastExp(part - max);
  const A sum = keep + take;
  return {.keep = keep / sum, .take = take / sum, .log_sum_exp = max + log(sum)};
}

// A block takes as many queries at once as give each thread a pack, at least one. Its indices fit
// into 32 bits, so that it divides no longer numbers. All of its threads read a log-sum-exp before
// one replaces it.
template <typename T, int kPack>
__global__ void MergeKernel(AttentionMerge a) {
  using A = Accumulator<T>;
  const auto queries = static_cast<uint32_t>(a.queries);
  const auto heads = static_cast<uint32_t>(a.heads);
  const uint32_t rows = static_cast<uint32_t>(a.batch) * queries;
  const uint32_t packs = static_cast<uint32_t>(a.head_dim) / kPack;
  const uint32_t width = heads * packs;
  const uint32_t rows_at_once = width < kThreads ? kThreads / width : 1;
  for (uint32_t first = blockIdx.x * rows_at_once; first < rows;
       first += gridDim.x * rows_at_once) {
    const uint32_t count = first + rows_at_once < rows ? rows_at_once : rows - first;
    for (uint32_t i = threadIdx.x; i < count * width; i += kThreads) {
      const uint32_t row = first + i / width;
      const uint32_t batch = row / queries;
      const uint32_t query = row % queries;
      const uint32_t head = i % width / packs;
      const uint32_t at = i % packs;
      const Weights<A> weights = WeightsOf<A>(a, batch, query, head);
      if (weights.take == 0) continue;
      const auto part = Load<kPack>(static_cast<const T*>(a.part_output) +
                                        OffsetOf(a.part_output_strides, batch, query, head),
                                    at);
      A* head_output = static_cast<A*>(a.output) + OffsetOf(a.output_strides, batch, query, head);
      auto output = Load<kPack>(head_output, at);
      for (int k = 0; k < kPack; ++k) {
        // Where there were no keys the output may hold anything.
        const A kept = weights.keep == 0 ? A{0} : weights.keep * output.values[k];
        output.values[k] = kept + weights.take * Widen(part.values[k]);
      }
      Store<kPack>(output, head_output, at);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count * heads; i += kThreads) {
      const uint32_t row = first + i / heads;
      const uint32_t batch = row / queries;
      const uint32_t query = row % queries;
      static_cast<A*>(a.log_sum_exp)[OffsetOf(a.log_sum_exp_strides, batch, query, i % heads)] =
          WeightsOf<A>(a, batch, query, i % heads).log_sum_exp;
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
      const int64_t items = args.batch * args.queries * args.heads * args.head_dim / pack();
      Start(MergeKernel<T, pack()>, BlocksFor(items), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
