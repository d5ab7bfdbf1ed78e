#include "planner/worker_memory/flash_scratch.h"

#include <algorithm>

#include "planner/worker_memory/cuda_attention.h"
#include "planner/worker_memory/worker_matmul.h"

namespace meshwright::planner {
namespace {

// ATen's rounding of its buffers, bytes.
constexpr int64_t kFlashSlackBytes = 128;

}  // namespace

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
