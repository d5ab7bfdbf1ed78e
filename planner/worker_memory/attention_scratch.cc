#include "planner/worker_memory/attention_scratch.h"

#include <algorithm>

#include "planner/worker_memory/worker_matmul.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kFp32Bytes = 4;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool IsBf16(const BlockShape& s) { return s.element_bytes < s.accumulator_bytes(); }

// ATen's rounding of its buffers, bytes.
constexpr int64_t kFlashSlackBytes = 128;

}  // namespace

bool TakesAllQueryHeads(const BlockShape& s) { return IsBf16(s) || s.heads == s.kv_heads; }

int64_t CudaAttentionScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys) {
  const BlockShape& s = shape.block;
  const int64_t batch = s.tokens * s.cp / s.keys;
  const int64_t heads = (TakesAllQueryHeads(s) ? s.heads : s.kv_heads) / s.tp;
  if (!IsBf16(s)) {
    const int64_t log_sum_exp = batch * heads * RoundUp(queries, 32) * kFp32Bytes;
    const int64_t products = batch * heads * queries * s.value_head_dim() * kFp32Bytes;
    return log_sum_exp + products + batch * heads * queries * kFp32Bytes;
  }
  const int64_t rounded_queries = RoundUp(queries, 128);
  const int64_t rounded_head = RoundUp(s.head_dim, s.head_dim <= 128 ? 32 : 64);
  const int64_t sums = batch * heads * rounded_queries * kFp32Bytes;
  const int64_t query_gradient = sums * rounded_head;
  const int64_t expanded =
      s.heads == s.kv_heads ? 0 : 2 * batch * keys * heads * s.head_dim * s.element_bytes;
  return sums + query_gradient + expanded;
}

// ATen's CPU kernel works on blocks of queries and keys: each thread has score blocks and their
// gradients in the accumulator type and, in bf16, in the element type as well.
int64_t FlashScratchBytes(const WorkerShape& shape, int64_t queries, int64_t keys) {
  const BlockShape& s = shape.block;
  if (!s.cpu_operators) return CudaAttentionScratchBytes(shape, queries, keys);
  const int64_t q = std::min<int64_t>(queries >= 768 ? 256 : queries >= 192 ? 64 : 32, queries);
  const int64_t k = std::min<int64_t>(512, keys);
  const int64_t scores =
      shape.threads * 2 * q * k * s.accumulator_bytes() + q * s.accumulator_bytes();
  if (s.element_bytes == s.accumulator_bytes()) return scores;
  // The slack covers the rounding of lengths that no block divides.
  return scores + shape.threads * (2 * q * k * s.element_bytes + kFlashSlackBytes) +
         s.accumulator_bytes() + kFlashSlackBytes + MatmulBytes(k, s.head_dim, s);
}

}  // namespace meshwright::planner
