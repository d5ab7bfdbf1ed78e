#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// Maximum and sum in one pass: a thread's sum is rescaled when it meets a larger logit.
template <typename T>
__global__ void StatisticsKernel(CrossEntropyStatistics a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* logits = static_cast<const T*>(a.logits) + row * a.width;
    float max = -INFINITY;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      const float logit = ToFloat(logits[i]);
      if (logit > max) {
        sum *= expf(max - logit);
        max = logit;
      }
      sum += expf(logit - max);
    }
    const float row_max = BlockMax(max);
    // Threads without a logit have max = -inf and add nothing.
    const float row_sum = BlockSum(sum * expf(max - row_max));
    if (threadIdx.x == 0) {
      const int64_t target = a.targets[row] - a.vocab_begin;
      a.local_max[row] = row_max;
      a.local_sum[row] = row_sum;
      a.target_logit[row] = target >= 0 && target < a.width ? ToFloat(logits[target]) : 0.0f;
    }
  }
}

__global__ void RescaleKernel(CrossEntropyRescale a) {
  for (int64_t row = GlobalThread(); row < a.rows; row += GridThreads()) {
    a.local_sum[row] *= expf(a.local_max[row] - a.global_max[row]);
  }
}

// One block, so that the sum is the same in every run.
__global__ void LossKernel(CrossEntropyLoss a) {
  double loss = 0.0;
  for (int64_t row = threadIdx.x; row < a.rows; row += kThreads) {
    const float log_sum_exp = logf(a.sum[row]) + a.max_to_log_sum_exp[row];
    a.max_to_log_sum_exp[row] = log_sum_exp;
    loss += static_cast<double>(log_sum_exp) - static_cast<double>(a.target_logit[row]);
  }
  loss = BlockSum(loss);
  if (threadIdx.x == 0) *a.loss_sum += loss;
}

template <typename T>
__global__ void BackwardKernel(CrossEntropyBackward a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    T* logits = static_cast<T*>(a.logits) + row * a.width;
    const float log_sum_exp = a.log_sum_exp[row];
    const int64_t target = a.targets[row] - a.vocab_begin;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      const float hit = i == target ? 1.0f : 0.0f;
      FromFloat((expf(ToFloat(logits[i]) - log_sum_exp) - hit) * a.scale, logits[i]);
    }
  }
}

}  // namespace

void Launch(const CrossEntropyStatistics& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    StatisticsKernel<decltype(element)><<<BlocksForRows(args.rows), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

void Launch(const CrossEntropyRescale& args, cudaStream_t stream) {
  RescaleKernel<<<BlocksFor(args.rows), kThreads, 0, stream>>>(args);
  Check(cudaGetLastError());
}

void Launch(const CrossEntropyLoss& args, cudaStream_t stream) {
  LossKernel<<<1, kThreads, 0, stream>>>(args);
  Check(cudaGetLastError());
}

void Launch(const CrossEntropyBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    BackwardKernel<decltype(element)><<<BlocksForRows(args.rows), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
