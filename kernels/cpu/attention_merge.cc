#include <cmath>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void MergeHead(const AttentionMerge& a, int64_t batch, int64_t query, int64_t head) {
  using A = Accumulator<T>;
  A& log_sum_exp =
      static_cast<A*>(a.log_sum_exp)[OffsetOf(a.log_sum_exp_strides, batch, query, head)];
  const A before = log_sum_exp;
  const A part = static_cast<const A*>(
      a.part_log_sum_exp)[OffsetOf(a.part_log_sum_exp_strides, batch, query, head)];
  if (part == -INFINITY) return;
  A* output = static_cast<A*>(a.output) + OffsetOf(a.output_strides, batch, query, head);
  const T* part_output =
      static_cast<const T*>(a.part_output) + OffsetOf(a.part_output_strides, batch, query, head);
  if (before == -INFINITY) {
    log_sum_exp = part;
    for (int64_t i = 0; i < a.head_dim; ++i) output[i] = Widen(part_output[i]);
    return;
  }
  const A max = before > part ? before : part;
  const A sum = std::exp(before - max) + std::exp(part - max);
  log_sum_exp = max + std::log(sum);
  const A keep = std::exp(before - max) / sum;
  const A take = std::exp(part - max) / sum;
#pragma omp simd
  for (int64_t i = 0; i < a.head_dim; ++i) {
    output[i] = keep * output[i] + take * Widen(part_output[i]);
  }
}

}  // namespace

void Run(const AttentionMerge& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    const int64_t rows = args.batch * args.queries;
    ForRange(parallel, rows, args.heads * args.head_dim, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        for (int64_t head = 0; head < args.heads; ++head) {
          MergeHead<decltype(element)>(args, row / args.queries, row % args.queries, head);
        }
      }
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
