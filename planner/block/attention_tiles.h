// Lists which queries see which keys under context parallelism or in windowed attention. A window
// is the newest keys before a query, or the keys of the query's own chunk. The lists are the stops
// of the ring that passes keys from rank to rank, and the rectangles of queries and keys for which
// the attention kernel is called. Meshwright's worker executes these lists. The worker's memory and
// every framework's time are computed from the lists.
//
// The ring carries a rank's keys only to ranks that see some of them. At a stop of distance h, rank
// r works on the keys of rank r - h. The ring leaves out every distance at which no rank sees any
// key. Without a window it stops at every distance. A sequence has 2 cp pieces, of which each rank
// holds one from the front half and one from the back half (planner/layout/sequence_share.h). If a
// window reaches n pieces back, pieces of the front half need the stops at distances up to n, and
// pieces of the back half need the stops at the last n distances. If every piece consists of whole
// chunks, no rank needs another rank's keys.
#pragma once

#include <cstdint>
#include <vector>

namespace meshwright::planner {

// The most queries of one windowed kernel call on a CPU, and so the most rows of the call's mask. A
// GPU's kernel implements windows itself and needs no such limit.
inline constexpr int64_t kWindowTileQueries = 256;

// A sequence, and the rule that says which of its keys a query sees.
struct AttentionSpan {
  int64_t seq_len = 0;
  int32_t cp = 1;
  int64_t window = 0;    // number of newest keys that a query sees; 0: all keys before it
  bool chunked = false;  // a query sees the keys of its own chunk of `window` tokens instead
  int64_t tile_queries = kWindowTileQueries;  // most queries of a windowed call, or 0 for no limit

  // Returns whether one call attends to the whole sequence.
  bool is_one_tile() const { return cp == 1 && (window == 0 || (!chunked && tile_queries == 0)); }
};

// Returns the stops of the ring, ascending from 0. A stop is the distance in ranks between the rank
// that holds the keys and the rank that works on them.
std::vector<int32_t> RingStops(const AttentionSpan& span);
// Returns the number of stops of the ring.
int64_t RingStopCount(const AttentionSpan& span);

// A range of `count` tokens, which begins at index `begin` of a rank's tokens of one sequence.
struct TokenRange {
  int64_t begin = 0;
  int64_t count = 0;

  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

// The keys that a query sees: from `older` positions before the query's position to `newer`
// positions after it. Positions are counted so that the last query is at the last key's position,
// as in flash attention on a GPU.
struct KeyBand {
  int64_t older = 0;
  int64_t newer = 0;

  friend bool operator==(const KeyBand&, const KeyBand&) = default;
};

struct AttentionTile {
  TokenRange queries;
  TokenRange keys;
  // If true, a query sees only the keys up to its own position, and the tile has as many queries as
  // keys.
  bool causal = false;
  // If above 0, a query sees the key at its own position and the `window` - 1 keys before it, and
  // every query sees at least one key. If 0, `causal` alone decides what a query sees.
  int64_t window = 0;
  int64_t lead = 0;   // positions from the first key to the first query; only with a window
  bool first = true;  // whether no earlier tile has these queries

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

// Returns the tiles of the queries of `rank` with the keys of `source`, in the order in which the
// kernel is called on them. The list is empty if none of these queries sees any of these keys.
std::vector<AttentionTile> AttentionTiles(const AttentionSpan& span, int32_t rank, int32_t source);

}  // namespace meshwright::planner
