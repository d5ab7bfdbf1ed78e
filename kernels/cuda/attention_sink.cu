#include "kernels/cuda/head_blocks.cuh"
#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// The keys' share of a query's softmax, and its log-sum-exp including the sink.
template <typename A>
struct Joined {
  A share;
  A log_sum_exp;
};

template <typename A>
__device__ Joined<A> JoinedOf(A keys, A sink) {
  const A max = keys > sink ? keys : sink;
  const A of_keys = FastExp(keys - max);
  const A sum = of_keys + FastExp(sink - max);
  return {.share = of_keys / sum, .log_sum_exp = max + log(sum)};
}

// A thread first joins a head's sink, for all threads with packs of it.
template <typename T, int kPack>
__global__ void JoinKernel(AttentionSink a, HeadBlocks heads) {
  using A = Accumulator<T>;
  constexpr int kAtOnce = HeadBlocks::kThreadPacks;
  __shared__ A shares[kThreads];
  if (HeadPlace of; heads.Find(threadIdx.x, of)) {
    A* log_sum_exp = static_cast<A*>(a.log_sum_exp) +
                     OffsetOf(a.log_sum_exp_strides, of.batch, of.query, of.head);
    const Joined<A> joined =
        JoinedOf<A>(*log_sum_exp, Widen(static_cast<const T*>(a.sinks)[of.head * a.sink_stride]));
    shares[threadIdx.x] = joined.share;
    *log_sum_exp = joined.log_sum_exp;
  }
  __syncthreads();
  for (uint32_t first = threadIdx.x; first < heads.packs(); first += kAtOnce * kThreads) {
    T* places[kAtOnce] = {};
    A share[kAtOnce] = {};
    Pack<T, kPack> outputs[kAtOnce];
    for (int n = 0; n < kAtOnce; ++n) {
      HeadPack at;
      if (!heads.Find(first + n * kThreads, at)) continue;
      const HeadPlace& of = at.place;
      places[n] = static_cast<T*>(a.output) +
                  OffsetOf(a.output_strides, of.batch, of.query, of.head) + at.pack * kPack;
      outputs[n] = Load<kPack>(places[n], 0);
      share[n] = shares[at.number];
    }
    for (int n = 0; n < kAtOnce; ++n) {
      if (places[n] == nullptr) continue;
      for (T& output : outputs[n].values) Narrow(share[n] * Widen(output), output);
      Store<kPack>(outputs[n], places[n], 0);
    }
  }
}

constexpr uint32_t kQueriesOfABlock = 256;

// A block has some queries of one head.
template <typename T, int kPack>
__global__ void GradientKernel(AttentionSinkGradient a) {
  using A = Accumulator<T>;
  const auto queries = static_cast<uint32_t>(a.queries);
  const uint32_t rows = static_cast<uint32_t>(a.batch) * queries;
  const uint32_t packs = static_cast<uint32_t>(a.head_dim) / kPack;
  const uint32_t head = blockIdx.x;
  const uint32_t first = blockIdx.y * kQueriesOfABlock;
  const uint32_t count = first + kQueriesOfABlock < rows ? kQueriesOfABlock : rows - first;
  const A sink = Widen(static_cast<const T*>(a.sinks)[head * a.sink_stride]);
  A sum = 0;
  for (uint32_t i = threadIdx.x; i < count * packs; i += kThreads) {
    const uint32_t row = first + i / packs;
    const uint32_t batch = row / queries;
    const uint32_t query = row % queries;
    const uint32_t at = i % packs;
    const auto output = Load<kPack>(
        static_cast<const T*>(a.output) + OffsetOf(a.output_strides, batch, query, head), at);
    const auto doutput = Load<kPack>(
        static_cast<const T*>(a.doutput) + OffsetOf(a.doutput_strides, batch, query, head), at);
    A dot = 0;
    for (int k = 0; k < kPack; ++k) dot += Widen(output.values[k]) * Widen(doutput.values[k]);
    const A log_sum_exp =
        static_cast<const A*>(a.log_sum_exp)[OffsetOf(a.log_sum_exp_strides, batch, query, head)];
    sum += FastExp(sink - log_sum_exp) * dot;
  }
  sum = BlockSum(sum);
  if (threadIdx.x == 0) atomicAdd(static_cast<A*>(a.sink_gradient) + head * a.sink_stride, -sum);
}

template <typename T>
bool PacksHeads(int64_t head_dim, std::initializer_list<const void*> arrays,
                std::initializer_list<HeadStrides> strides) {
  bool packs = Packs<T>(head_dim, arrays);
  for (const HeadStrides& of : strides) {
    packs = packs && Packs<T>(of.batch, {}) && Packs<T>(of.query, {}) && Packs<T>(of.head, {});
  }
  return packs;
}

}  // namespace

void Launch(const AttentionSink& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs = PacksHeads<T>(args.head_dim, {args.output}, {args.output_strides});
    WithPack<T>(packs, [&](auto pack) {
      const HeadBlocks heads(args.batch, args.queries, args.heads, args.head_dim / pack());
      Start(JoinKernel<T, pack()>, heads.Grid(), 0, stream, args, heads);
    });
  });
}

void Launch(const AttentionSinkGradient& args, cudaStream_t stream) {
  const int64_t rows = args.batch * args.queries;
  const dim3 blocks(static_cast<unsigned int>(args.heads),
                    static_cast<unsigned int>((rows + kQueriesOfABlock - 1) / kQueriesOfABlock));
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const bool packs = PacksHeads<T>(args.head_dim, {args.output, args.doutput},
                                     {args.output_strides, args.doutput_strides});
    WithPack<T>(packs,
                [&](auto pack) { Start(GradientKernel<T, pack()>, blocks, 0, stream, args); });
  });
}

}  // namespace meshwright::kernels::cuda
