// Lists which queries see which keys, where ranks of a CP group share a sequence and where queries
// see a window of it, the newest keys or those of their own chunk: the ring's stops, and the
// rectangles of queries and keys that attention's kernel is called with. Meshwright's worker runs
// them; its memory and every framework's time are counted from them.
//
// The ring carries a rank's keys only to ranks that see some of them: once the keys of rank r - h
// are done with, it goes on to the next distance at which any rank sees anything. Without a window
// that is every distance. With one that reaches n of the 2 cp pieces back
// (planner/layout/sequence_share.h) it is those up to n, for the front pieces, and the last n of
// the ring, for the back ones. Chunks that consist of whole pieces reach nowhere.
#pragma once

#include <cstdint>
#include <vector>

namespace meshwright::planner {

// The most queries of one kernel call with a window on a CPU, and so the most rows of its mask. A
// kernel on a GPU implements windows itself.
inline constexpr int64_t kWindowTileQueries = 256;

// A sequence and how it is attended to.
struct AttentionSpan {
  int64_t seq_len = 0;
  int32_t cp = 1;
  int64_t window = 0;    // newest keys that a query sees; 0: all before it
  bool chunked = false;  // a query sees the keys of its own chunk of `window` tokens instead
  int64_t tile_queries = kWindowTileQueries;  // most queries of a windowed call; 0: no limit

  // Returns whether one call attends to the whole sequence.
  bool is_one_tile() const { return cp == 1 && (window == 0 || (!chunked && tile_queries == 0)); }
};

// Returns the keys' distance in ranks from their own at each stop of the ring, ascending from 0.
std::vector<int32_t> RingStops(const AttentionSpan& span);
// Returns the number of stops.
int64_t RingStopCount(const AttentionSpan& span);

// `count` tokens from `begin`, among those of one sequence that a rank holds.
struct TokenRange {
  int64_t begin = 0;
  int64_t count = 0;

  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

// The keys from `older` before a query's position to `newer` after it, where the last query is at
// the last key's position, as flash attention on a GPU counts them.
struct KeyBand {
  int64_t older = 0;
  int64_t newer = 0;

  friend bool operator==(const KeyBand&, const KeyBand&) = default;
};

struct AttentionTile {
  TokenRange queries;
  TokenRange keys;
  // As many queries as keys, and a query sees the keys up to its own position.
  bool causal = false;
  // A query sees a key that it is less than `window` ahead of; the first query is `lead` ahead of
  // the first key. Each query sees at least one. 0: `causal` alone decides.
  int64_t window = 0;
  int64_t lead = 0;
  bool first = true;  // no earlier tile has these queries

  // Returns whether the window hides some key from some query.
  bool masked() const {
    return window > 0 && (lead + queries.count > window || lead < keys.count - 1);
  }
  // Returns the band of keys that queries of a masked tile see.
  KeyBand band() const {
    const int64_t newer = lead + queries.count - keys.count;
    return {.older = window - 1 - newer, .newer = newer};
  }
  // Returns whether both tiles have the same mask.
  bool LooksLike(const AttentionTile& other) const {
    return queries.count == other.queries.count && keys.count == other.keys.count &&
           lead == other.lead && window == other.window;
  }
};

// Returns the tiles of queries of `rank` with keys of `source`, in the order of the calls. Empty
// where none of them sees any.
std::vector<AttentionTile> AttentionTiles(const AttentionSpan& span, int32_t rank, int32_t source);

}  // namespace meshwright::planner
