#include "planner/worker_memory/worker_attention.h"

#include <algorithm>

#include "planner/worker_memory/cuda_attention.h"
#include "planner/worker_memory/flash_scratch.h"
#include "planner/worker_memory/tiled_attention.h"

namespace meshwright::planner {
namespace {

int64_t QueryBytes(const BlockShape& s) { return s.tokens * s.query_width() * s.element_bytes; }
int64_t KeyBytes(const BlockShape& s) { return s.tokens * s.key_width() * s.element_bytes; }

// Returns the bytes of a call on CUDA for callers that count the queries' gradient as large as the
// keys: that of one head of each group, which is all that a call on a CPU takes.
int64_t CallBytes(const WorkerShape& shape, int64_t queries, int64_t keys) {
  const BlockShape& s = shape.block;
  const int64_t scratch = FlashScratchBytes(shape, queries, keys);
  if (s.cpu_operators || !TakesAllQueryHeads(s)) return scratch;
  const int64_t others = QueryBytes(s) - KeyBytes(s);
  return scratch + others * queries * s.cp / s.keys;
}

// Returns the bytes of the kernel's gradients for whole sequences on one rank.
int64_t LocalAttentionBytes(const WorkerShape& shape) {
  const BlockShape& s = shape.block;
  const int64_t key = KeyBytes(s);
  if (!s.cpu_operators && TakesAllQueryHeads(s)) {
    return QueryBytes(s) + 2 * key + CudaAttentionScratchBytes(shape, s.keys, s.keys);
  }
  // The query heads of a group are computed one after another, each with gradients of keys and
  // values and a dense copy of its share of the incoming gradient, which is as large as the keys.
  return QueryBytes(s) + (s.heads == s.kv_heads ? 2 : 5) * key + CallBytes(shape, s.keys, s.keys);
}

// Returns the same where keys and values, followed by their gradients, pass around a ring of `cp`
// ranks, on the fullest rank. Either half of the rank's tokens attend to all of another's, or all
// of them attend to a half.
int64_t RingAttentionBytes(const WorkerShape& shape) {
  const BlockShape& s = shape.block;
  const bool grouped = s.heads != s.kv_heads;
  const int64_t tokens = s.keys / s.cp;
  const int64_t key = KeyBytes(s);
  const int64_t message = 2 * key;
  // Sums of gradients have the accumulator type. A part of another type is also held in that type
  // while it is added.
  const int64_t width = s.accumulator_bytes() / s.element_bytes;
  const int64_t gradients = width * message;
  const int64_t wide_key = width > 1 ? width * key : 0;
  const int64_t copy = grouped ? key : 0;
  const int64_t half_copy = grouped || s.tokens > tokens ? key / 2 : 0;
  const int64_t own =
      3 * key + std::max(copy + CallBytes(shape, tokens, tokens), grouped ? wide_key : 0);
  const int64_t before = 2 * key + copy + CallBytes(shape, tokens, tokens / 2);
  const int64_t parts = key / 2 + message;
  const int64_t behind = parts + half_copy + CallBytes(shape, tokens / 2, tokens);
  // Up to the addition of the keys' gradients, and during it.
  const int64_t foreign = std::max({before, behind, 2 * key + wide_key, parts + wide_key / 2});
  const int64_t adding = parts + wide_key;
  // The first hop; the second, which begins to pass the gradients on; a later one, with gradients
  // coming and going; their last one. The next keys are under way in all but the last.
  const int64_t second = std::max(grouped ? gradients + foreign : foreign, gradients + adding);
  int64_t most = std::max({message + own, second + (s.cp > 2 ? message : 0), 2 * gradients});
  if (s.cp > 2) most = std::max(most, 2 * gradients + foreign + (s.cp > 3 ? message : 0));
  return width * QueryBytes(s) + gradients + message + most;
}

}  // namespace

int64_t AttentionGradientBytes(const WorkerShape& shape) {
  const BlockShape& s = shape.block;
  const int64_t keys = s.assembles_keys() ? KeyBytes(s) : 0;
  if (s.window > 0 || s.value_head_dim() != s.head_dim) return keys + TiledAttentionBytes(shape);
  return keys + (s.cp > 1 ? RingAttentionBytes(shape) : LocalAttentionBytes(shape));
}

}  // namespace meshwright::planner
