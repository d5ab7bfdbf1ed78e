#include <cmath>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void StatisticsRow(const CrossEntropyStatistics& a, int64_t row) {
  const T* logits = static_cast<const T*>(a.logits) + row * a.width;
  float max = ToFloat(logits[0]);
#pragma omp simd reduction(max : max)
  for (int64_t i = 0; i < a.width; ++i) {
    const float logit = ToFloat(logits[i]);
    max = logit > max ? logit : max;
  }
  float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < a.width; ++i) sum += FastExp(ToFloat(logits[i]) - max);
  const int64_t target = a.targets[row] - a.vocab_begin;
  a.local_max[row] = max;
  a.local_sum[row] = sum;
  a.target_logit[row] = target >= 0 && target < a.width ? ToFloat(logits[target]) : 0.0f;
}

template <typename T>
void BackwardRow(const CrossEntropyBackward& a, int64_t row) {
  T* logits = static_cast<T*>(a.logits) + row * a.width;
  const float log_sum_exp = a.log_sum_exp[row];
  const int64_t target = a.targets[row] - a.vocab_begin;
  const bool here = target >= 0 && target < a.width;
  const float at_target =
      here ? (FastExp(ToFloat(logits[target]) - log_sum_exp) - 1.0f) * a.scale : 0.0f;
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    FromFloat(FastExp(ToFloat(logits[i]) - log_sum_exp) * a.scale, logits[i]);
  }
  if (here) FromFloat(at_target, logits[target]);
}

}  // namespace

void Run(const CrossEntropyStatistics& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) StatisticsRow<decltype(element)>(args, row);
    });
  });
}

void Run(const CrossEntropyRescale& args, const Parallel&) {
  for (int64_t row = 0; row < args.rows; ++row) {
    args.local_sum[row] *= std::exp(args.local_max[row] - args.global_max[row]);
  }
}

void Run(const CrossEntropyLoss& args, const Parallel&) {
  double loss = 0.0;
  for (int64_t row = 0; row < args.rows; ++row) {
    const float log_sum_exp = std::log(args.sum[row]) + args.max_to_log_sum_exp[row];
    args.max_to_log_sum_exp[row] = log_sum_exp;
    loss += static_cast<double>(log_sum_exp) - static_cast<double>(args.target_logit[row]);
  }
  *args.loss_sum += loss;
}

void Run(const CrossEntropyBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) BackwardRow<decltype(element)>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
