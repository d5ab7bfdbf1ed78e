#include "planner/memory/cuda_attention.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kFp32Bytes = 4;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool IsBf16(const BlockDims& d) { return d.element_bytes < d.accumulator_bytes(); }

}  // namespace

bool TakesAllQueryHeads(const BlockDims& d) { return IsBf16(d) || d.heads == d.kv_heads; }

int64_t CudaAttentionScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys) {
  const BlockDims& d = shape.block;
  const int64_t batch = d.tokens * shape.cp / d.keys;
  const int64_t heads = (TakesAllQueryHeads(d) ? d.heads : d.kv_heads) / d.tp;
  if (!IsBf16(d)) {
    const int64_t log_sum_exp = batch * heads * RoundUp(queries, 32) * kFp32Bytes;
    const int64_t products = batch * heads * queries * d.head_dim * kFp32Bytes;
    return log_sum_exp + products + batch * heads * queries * kFp32Bytes;
  }
  const int64_t rounded_queries = RoundUp(queries, 128);
  const int64_t rounded_head = RoundUp(d.head_dim, d.head_dim <= 128 ? 32 : 64);
  const int64_t sums = batch * heads * rounded_queries * kFp32Bytes;
  const int64_t query_gradient = sums * rounded_head;
  const int64_t expanded =
      d.heads == d.kv_heads ? 0 : 2 * batch * keys * heads * d.head_dim * d.element_bytes;
  return sums + query_gradient + expanded;
}

}  // namespace meshwright::planner
