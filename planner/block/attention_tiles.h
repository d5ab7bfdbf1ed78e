// Which queries see which keys, where ranks of a CP group share a sequence and where queries see a
// window of it, the newest keys or those of their own chunk: the ring's stops, and the rectangles
// of queries and keys that attention's kernel is called with. Meshwright's worker runs them, and
// its memory and every framework's time are counted from them.
//
// The ring carries a rank's keys only to ranks that see some of them: after the keys of rank r - h
// are done with, it goes on to the next distance at which any rank sees anything. Without a window
// that is every distance. With one that reaches n of the 2 cp pieces back
// (planner/layout/sequence_share.h) it is those up to n, for the front pieces, and the n that come
// before the way round is over, for the back ones. Chunks that pieces are made up of reach nowhere.
#pragma once

#include <cstdint>
#include <vector>

namespace meshwright::planner {

// With a window a kernel on a CPU is called for at most so many queries at once, and the mask that
// it takes has no more rows. One on a device knows windows itself.
inline constexpr int64_t kWindowTileQueries = 256;

// A sequence and how it is attended to.
struct AttentionSpan {
  int64_t seq_len = 0;
  int32_t cp = 1;
  int64_t window = 0;    // newest keys that a query sees; 0: all before it
  bool chunked = false;  // it sees those of its own chunk of `window` tokens instead
  int64_t tile_queries = kWindowTileQueries;  // of a call with a window, at most; 0: no limit

  // Whether one call attends to the whole sequence.
  bool is_one_tile() const { return cp == 1 && (window == 0 || (!chunked && tile_queries == 0)); }
};

// How far the keys are from home at each stop of the ring, ascending; home, 0, is the first.
std::vector<int32_t> RingStops(const AttentionSpan& span);
// How many there are.
int64_t RingStopCount(const AttentionSpan& span);

// `count` tokens from `begin`, of those of one sequence that a rank holds.
struct TokenRange {
  int64_t begin = 0;
  int64_t count = 0;

  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

// The keys from `older` before a query's place to `newer` behind it, where the last query's place
// is that of the last key: how flash attention on a device counts them.
struct KeyBand {
  int64_t older = 0;
  int64_t newer = 0;

  friend bool operator==(const KeyBand&, const KeyBand&) = default;
};

struct AttentionTile {
  TokenRange queries;
  TokenRange keys;
  // As many queries as keys, of which a query sees those up to its own place.
  bool causal = false;
  // A query sees a key that it is less than `window` ahead of; the first query is `lead` ahead of
  // the first key. Each query sees one at least. 0: it sees what `causal` says.
  int64_t window = 0;
  int64_t lead = 0;
  bool first = true;  // no tile before it has these queries

  // Whether some query does not see some key for the window.
  bool masked() const {
    return window > 0 && (lead + queries.count > window || lead < keys.count - 1);
  }
  // What queries see of a tile that is masked.
  KeyBand band() const {
    const int64_t newer = lead + queries.count - keys.count;
    return {.older = window - 1 - newer, .newer = newer};
  }
  // Whether the mask is the same.
  bool LooksLike(const AttentionTile& other) const {
    return queries.count == other.queries.count && keys.count == other.keys.count &&
           lead == other.lead && window == other.window;
  }
};

// The rectangles of queries of `rank` and keys of `source`, in the order of the calls. Empty where
// none of them sees any.
std::vector<AttentionTile> AttentionTiles(const AttentionSpan& span, int32_t rank, int32_t source);

}  // namespace meshwright::planner
