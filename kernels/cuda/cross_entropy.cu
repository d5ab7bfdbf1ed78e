#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// Maximum and sum in one pass: a thread rescales its sum when it meets a larger logit.
template <typename T, int kPack>
__global__ void StatisticsKernel(CrossEntropyStatistics a) {
  using A = Accumulator<T>;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* row_logits = static_cast<const T*>(a.logits) + row * a.width;
    A max = -INFINITY;
    A sum = 0;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      const auto logits = Load<kPack>(row_logits, i);
      A pack_max = Widen(logits.values[0]);
      for (int k = 1; k < kPack; ++k) {
        const A logit = Widen(logits.values[k]);
        pack_max = logit > pack_max ? logit : pack_max;
      }
      if (pack_max > max) {
        sum *= FastExp(max - pack_max);
        max = pack_max;
      }
      for (int k = 0; k < kPack; ++k) sum += FastExp(Widen(logits.values[k]) - max);
    }
    const A row_max = BlockMax(max);
    // Threads without a logit have max = -inf and add nothing.
    const A row_sum = BlockSum(sum * FastExp(max - row_max));
    if (threadIdx.x == 0) {
      const int64_t target = a.targets[row] - a.vocab_begin;
      static_cast<A*>(a.local_max)[row] = row_max;
      static_cast<A*>(a.local_sum)[row] = row_sum;
      static_cast<A*>(a.target_logit)[row] =
          target >= 0 && target < a.width ? Widen(row_logits[target]) : A{0};
    }
  }
}

template <typename A>
__global__ void RescaleKernel(CrossEntropyRescale a) {
  const A* local_max = static_cast<const A*>(a.local_max);
  const A* global_max = static_cast<const A*>(a.global_max);
  A* local_sum = static_cast<A*>(a.local_sum);
  const int64_t row = GlobalThread();
  if (row < a.rows) local_sum[row] *= exp(local_max[row] - global_max[row]);
}

// One block, so that the sum is the same in every run.
template <typename A>
__global__ void LossKernel(CrossEntropyLoss a) {
  const A* sum = static_cast<const A*>(a.sum);
  const A* target_logit = static_cast<const A*>(a.target_logit);
  A* max_to_log_sum_exp = static_cast<A*>(a.max_to_log_sum_exp);
  double loss = 0.0;
  for (int64_t row = threadIdx.x; row < a.rows; row += kThreads) {
    const A log_sum_exp = log(sum[row]) + max_to_log_sum_exp[row];
    max_to_log_sum_exp[row] = log_sum_exp;
    loss += static_cast<double>(log_sum_exp) - static_cast<double>(target_logit[row]);
  }
  loss = BlockSum(loss);
  if (threadIdx.x == 0) *a.loss_sum += loss;
}

template <typename T, int kPack>
__global__ void BackwardKernel(CrossEntropyBackward a) {
  using A = Accumulator<T>;
  const A scale = static_cast<A>(a.scale);
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    T* row_logits = static_cast<T*>(a.logits) + row * a.width;
    const A log_sum_exp = static_cast<const A*>(a.log_sum_exp)[row];
    const int64_t target = a.targets[row] - a.vocab_begin;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      auto logits = Load<kPack>(row_logits, i);
      const int64_t target_of_pack = target - i * kPack;
      for (int k = 0; k < kPack; ++k) {
        const A hit = k == target_of_pack ? 1 : 0;
        const A softmax = FastExp(Widen(logits.values[k]) - log_sum_exp);
        Narrow((softmax - hit) * scale, logits.values[k]);
      }
      Store<kPack>(logits, row_logits, i);
    }
  }
}

}  // namespace

void Launch(const CrossEntropyStatistics& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.logits}), [&](auto pack) {
      Start(StatisticsKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

void Launch(const CrossEntropyRescale& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    Start(RescaleKernel<Accumulator<decltype(element)>>, BlocksToCover(args.rows), 0, stream, args);
  });
}

void Launch(const CrossEntropyLoss& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    Start(LossKernel<Accumulator<decltype(element)>>, 1, 0, stream, args);
  });
}

void Launch(const CrossEntropyBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.logits}), [&](auto pack) {
      Start(BackwardKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
