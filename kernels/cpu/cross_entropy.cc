#include <cmath>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void StatisticsRow(const CrossEntropyStatistics& a, int64_t row) {
  using A = Accumulator<T>;
  const T* logits = static_cast<const T*>(a.logits) + row * a.width;
  A max = Widen(logits[0]);
#pragma omp simd reduction(max : max)
  for (int64_t i = 0; i < a.width; ++i) {
    const A logit = Widen(logits[i]);
    max = logit > max ? logit : max;
  }
  A sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < a.width; ++i) sum += FastExp(Widen(logits[i]) - max);
  const int64_t target = a.targets[row] - a.vocab_begin;
  static_cast<A*>(a.local_max)[row] = max;
  static_cast<A*>(a.local_sum)[row] = sum;
  static_cast<A*>(a.target_logit)[row] =
      target >= 0 && target < a.width ? Widen(logits[target]) : A{0};
}

template <typename T>
void BackwardRow(const CrossEntropyBackward& a, int64_t row) {
  using A = Accumulator<T>;
  T* logits = static_cast<T*>(a.logits) + row * a.width;
  const A log_sum_exp = static_cast<const A*>(a.log_sum_exp)[row];
  const A scale = static_cast<A>(a.scale);
  const int64_t target = a.targets[row] - a.vocab_begin;
  const bool here = target >= 0 && target < a.width;
  const A at_target = here ? (FastExp(Widen(logits[target]) - log_sum_exp) - 1) * scale : A{0};
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    Narrow(FastExp(Widen(logits[i]) - log_sum_exp) * scale, logits[i]);
  }
  if (here) Narrow(at_target, logits[target]);
}

template <typename A>
void Rescale(const CrossEntropyRescale& a) {
  const A* local_max = static_cast<const A*>(a.local_max);
  const A* global_max = static_cast<const A*>(a.global_max);
  A* local_sum = static_cast<A*>(a.local_sum);
  for (int64_t row = 0; row < a.rows; ++row) {
    local_sum[row] *= std::exp(local_max[row] - global_max[row]);
  }
}

template <typename A>
void AddLoss(const CrossEntropyLoss& a) {
  const A* sum = static_cast<const A*>(a.sum);
  const A* target_logit = static_cast<const A*>(a.target_logit);
  A* max_to_log_sum_exp = static_cast<A*>(a.max_to_log_sum_exp);
  double loss = 0.0;
  for (int64_t row = 0; row < a.rows; ++row) {
    const A log_sum_exp = std::log(sum[row]) + max_to_log_sum_exp[row];
    max_to_log_sum_exp[row] = log_sum_exp;
    loss += static_cast<double>(log_sum_exp) - static_cast<double>(target_logit[row]);
  }
  *a.loss_sum += loss;
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
  WithElement(args.type, [&](auto element) { Rescale<Accumulator<decltype(element)>>(args); });
}

void Run(const CrossEntropyLoss& args, const Parallel&) {
  WithElement(args.type, [&](auto element) { AddLoss<Accumulator<decltype(element)>>(args); });
}

void Run(const CrossEntropyBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) BackwardRow<decltype(element)>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
