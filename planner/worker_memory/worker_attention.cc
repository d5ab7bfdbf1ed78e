#include "planner/worker_memory/worker_attention.h"

#include <algorithm>
#include <vector>

#include "planner/block/attention_tiles.h"
#include "planner/worker_memory/attention_scratch.h"

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

// Ranks at both ends of a group see more or fewer tiles; those in between are alike.
constexpr int32_t kRanksOfAnEnd = 8;

// One rank's backward.
class TiledWalk {
 public:
  TiledWalk(const WorkerShape& shape, int32_t rank)
      : shape_(shape),
        s_(shape.block),
        span_(s_.attention_span()),
        rank_(rank),
        batch_(s_.tokens * s_.cp / s_.keys),
        calls_(TakesGroupedQueries() ? 1 : s_.rank_heads() / s_.rank_kv_heads()),
        width_(s_.accumulator_bytes() / s_.element_bytes),
        query_(s_.tokens * s_.query_width() * s_.element_bytes),
        message_(s_.tokens * (s_.key_width() + s_.value_width()) * s_.element_bytes) {}

  int64_t Local() {
    if (span_.is_one_tile()) return OneCall();
    Take(width_ * message_);
    const std::vector<AttentionTile> tiles = AttentionTiles(span_, 0, 0);
    for (int64_t call = 0; call < calls_; ++call) {
      Take(query_ / calls_);
      for (const AttentionTile& tile : tiles) Tile(tile, [] {});
    }
    if (width_ > 1) Touch(message_);
    return most_;
  }

  int64_t Ring() {
    Take(message_);                      // the rank's own keys and values
    Take(width_ * (message_ + query_));  // the sums of gradients
    const std::vector<int32_t> stops = RingStops(span_);
    for (size_t stop = 0; stop < stops.size(); ++stop) {
      const bool last = stop + 1 == stops.size();
      if (!last) Take(message_);
      const auto source = static_cast<int32_t>((rank_ + s_.cp - stops[stop]) % s_.cp);
      const std::vector<AttentionTile> tiles = AttentionTiles(span_, rank_, source);
      for (int64_t call = 0; call < calls_; ++call) {
        for (const AttentionTile& tile : tiles) {
          Tile(tile, [&] {
            if (stop > 0) Arrive();
          });
        }
      }
      if (!last) Give(message_);
      if (stop > 0) Pass();
    }
    return most_;
  }

 private:
  bool TakesGroupedQueries() const { return !s_.cpu_operators && TakesAllQueryHeads(s_); }
  // Flash attention needs one width for queries, keys and values. On CUDA it runs in bf16 alone.
  bool FillsUp() const {
    const bool is_flash =
        s_.element_bytes < s_.accumulator_bytes() && s_.attention != AttentionKernel::kCudnn;
    return (s_.cpu_operators || is_flash) && s_.value_head_dim() < s_.head_dim;
  }

  void Take(int64_t bytes) {
    held_ += bytes;
    most_ = std::max(most_, held_);
  }
  void Give(int64_t bytes) { held_ -= bytes; }
  void Touch(int64_t bytes) { most_ = std::max(most_, held_ + bytes); }

  int64_t Heads(int64_t tokens, int64_t heads, int64_t dim) const {
    return batch_ * tokens * heads * dim * s_.element_bytes;
  }

  // The gradients that one kernel call makes, bytes.
  struct Parts {
    int64_t query = 0;
    int64_t key = 0;
    int64_t value = 0;

    int64_t all() const { return query + key + value; }
  };

  Parts Call(int64_t queries, int64_t keys) {
    const int64_t heads = s_.rank_heads() / calls_;
    const int64_t value_dim = FillsUp() ? s_.head_dim : s_.value_head_dim();
    const Parts parts = {.query = Heads(queries, heads, s_.head_dim),
                         .key = Heads(keys, s_.rank_kv_heads(), s_.head_dim),
                         .value = Heads(keys, s_.rank_kv_heads(), value_dim)};
    // Values, the output and its gradient padded to the common width; or a dense copy of that
    // gradient, and on CUDA of the output.
    const bool dense = calls_ == 1 && (batch_ == 1 || queries == s_.keys / s_.cp);
    const int64_t attended = Heads(queries, heads, s_.value_head_dim());
    const int64_t copies = FillsUp() ? parts.value + 2 * parts.query
                           : dense   ? 0
                                     : (s_.cpu_operators ? 1 : 2) * attended;
    Touch(copies);
    Take(parts.all());
    Touch(copies + FlashScratchBytes(shape_, queries, keys));
    return parts;
  }

  // The kernel's own gradients are the result.
  int64_t OneCall() {
    Call(s_.keys, s_.keys);
    return most_;
  }

  // Calls `arrive` when the queries' part is added.
  template <typename Arriving>
  void Tile(const AttentionTile& tile, const Arriving& arrive) {
    Mask(tile);
    const Parts parts = Call(tile.queries.count, tile.keys.count);
    // A part of another type is also held in the sum's type while it is added.
    if (width_ > 1 && !tile.first) Touch(width_ * parts.query);
    arrive();
    if (width_ > 1) Touch(width_ * std::max(parts.key, parts.value));
    Give(parts.all());
  }

  void Mask(const AttentionTile& tile) {
    if (!s_.cpu_operators || !tile.masked()) return;
    if (mask_ > 0 && mask_of_.LooksLike(tile)) return;
    Give(mask_);
    mask_ = tile.queries.count * tile.keys.count * s_.accumulator_bytes();
    mask_of_ = tile;
    Take(mask_);
  }

  // Received gradients replace those that were sent, or the first sum begins.
  void Arrive() {
    if (arrived_) return;
    arrived_ = true;
    on_the_way_ ? Give(width_ * message_) : Take(width_ * message_);
  }
  void Pass() {
    Arrive();
    arrived_ = false;
    on_the_way_ = true;
    Take(width_ * message_);
  }

  const WorkerShape& shape_;
  const BlockShape& s_;
  const AttentionSpan span_;
  const int32_t rank_;
  const int64_t batch_;
  const int64_t calls_;
  const int64_t width_;
  const int64_t query_;
  const int64_t message_;
  int64_t held_ = 0;
  int64_t most_ = 0;
  int64_t mask_ = 0;
  AttentionTile mask_of_;
  bool arrived_ = false;
  bool on_the_way_ = false;
};

// Returns the most bytes held, the gradients included, on the fullest rank of the CP group, where
// the kernel is called for tiles of queries and keys (planner/block/attention_tiles.h), or where
// values are narrower than keys. It follows the worker's calls
// (executor/worker/model/attention_core.cc and ring_attention.cc) in order. In bf16 it is an upper
// bound.
int64_t TiledAttentionBytes(const WorkerShape& shape) {
  const auto cp = static_cast<int32_t>(shape.block.cp);
  if (cp == 1) return TiledWalk(shape, 0).Local();
  int64_t most = 0;
  for (int32_t rank = 0; rank < cp; ++rank) {
    if (rank >= kRanksOfAnEnd && rank < cp - kRanksOfAnEnd) continue;
    most = std::max(most, TiledWalk(shape, rank).Ring());
  }
  return most;
}

}  // namespace

int64_t AttentionGradientBytes(const WorkerShape& shape) {
  const BlockShape& s = shape.block;
  const int64_t keys = s.assembles_keys() ? KeyBytes(s) : 0;
  if (s.window > 0 || s.value_head_dim() != s.head_dim) return keys + TiledAttentionBytes(shape);
  return keys + (s.cp > 1 ? RingAttentionBytes(shape) : LocalAttentionBytes(shape));
}

}  // namespace meshwright::planner
