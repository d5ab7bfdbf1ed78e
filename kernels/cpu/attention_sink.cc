#include <cmath>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// Both exponentials are computed relative to the larger one.
template <typename T>
void JoinHead(const AttentionSink& a, int64_t batch, int64_t query, int64_t head) {
  using A = Accumulator<T>;
  A& log_sum_exp =
      static_cast<A*>(a.log_sum_exp)[OffsetOf(a.log_sum_exp_strides, batch, query, head)];
  const A keys = log_sum_exp;
  const A sink = Widen(static_cast<const T*>(a.sinks)[head * a.sink_stride]);
  const A max = keys > sink ? keys : sink;
  const A sum = std::exp(keys - max) + std::exp(sink - max);
  log_sum_exp = max + std::log(sum);
  const A share = std::exp(keys - max) / sum;
  T* output = static_cast<T*>(a.output) + OffsetOf(a.output_strides, batch, query, head);
#pragma omp simd
  for (int64_t i = 0; i < a.head_dim; ++i) Narrow(share * Widen(output[i]), output[i]);
}

template <typename T>
Accumulator<T> GradientOfQuery(const AttentionSinkGradient& a, int64_t batch, int64_t query,
                               int64_t head) {
  using A = Accumulator<T>;
  const T* output =
      static_cast<const T*>(a.output) + OffsetOf(a.output_strides, batch, query, head);
  const T* doutput =
      static_cast<const T*>(a.doutput) + OffsetOf(a.doutput_strides, batch, query, head);
  A dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int64_t i = 0; i < a.head_dim; ++i) dot += Widen(output[i]) * Widen(doutput[i]);
  const A log_sum_exp =
      static_cast<const A*>(a.log_sum_exp)[OffsetOf(a.log_sum_exp_strides, batch, query, head)];
  const A sink = Widen(static_cast<const T*>(a.sinks)[head * a.sink_stride]);
  return std::exp(sink - log_sum_exp) * dot;
}

}  // namespace

void Run(const AttentionSink& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    const int64_t rows = args.batch * args.queries;
    ForRange(parallel, rows, args.heads * args.head_dim, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        for (int64_t head = 0; head < args.heads; ++head) {
          JoinHead<decltype(element)>(args, row / args.queries, row % args.queries, head);
        }
      }
    });
  });
}

// A head's queries are summed in order, on whichever thread.
void Run(const AttentionSinkGradient& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    using A = Accumulator<T>;
    const int64_t rows = args.batch * args.queries;
    ForRange(parallel, args.heads, rows * args.head_dim, [&](int64_t begin, int64_t end) {
      for (int64_t head = begin; head < end; ++head) {
        A sum = 0;
        for (int64_t row = 0; row < rows; ++row) {
          sum += GradientOfQuery<T>(args, row / args.queries, row % args.queries, head);
        }
        static_cast<A*>(args.sink_gradient)[head * args.sink_stride] -= sum;
      }
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
