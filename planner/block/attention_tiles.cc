#include "planner/block/attention_tiles.h"

#include <algorithm>
#include <array>

#include "planner/layout/sequence_share.h"

namespace meshwright::planner {
namespace {

// Returns the position of the oldest key that the query at `position` sees.
int64_t OldestKey(const AttentionSpan& span, int64_t position) {
  if (span.chunked) return position - position % span.window;
  return std::max<int64_t>(position - span.window + 1, 0);
}

// Returns the position after the last query that sees the key at `position`.
int64_t SeenUntil(const AttentionSpan& span, int64_t position) {
  return span.chunked ? position - position % span.window + span.window : position + span.window;
}

// Returns the most pieces before its own that a window reaches into.
int64_t PiecesBack(const AttentionSpan& span) {
  const int64_t piece = std::max<int64_t>(span.seq_len / (2 * int64_t{span.cp}), 1);
  int64_t most = 0;
  for (int64_t begin = 0; begin < span.seq_len; begin += piece) {
    most = std::max(most, (begin - OldestKey(span, begin) + piece - 1) / piece);
  }
  return most;
}

// Consecutive tokens of the sequence, and their range on the rank that holds them.
struct Piece {
  int64_t position = 0;
  TokenRange tokens;

  int64_t end() const { return position + tokens.count; }
};

std::vector<Piece> PiecesOf(const AttentionSpan& span, int32_t rank) {
  if (span.cp == 1) return {{.position = 0, .tokens = {.begin = 0, .count = span.seq_len}}};
  const auto [front, back] = SequencePiecesOf(span.seq_len, rank, span.cp);
  return {{.position = front.begin, .tokens = {.begin = 0, .count = front.count}},
          {.position = back.begin, .tokens = {.begin = front.count, .count = back.count}}};
}

// Returns the tile of all of a rank's queries and keys, or halves of them.
AttentionTile WholeTile(const AttentionSpan& span, int32_t rank, int32_t source) {
  const int64_t tokens = span.seq_len / span.cp;
  const TokenRange all = {.begin = 0, .count = tokens};
  if (source == rank) return {.queries = all, .keys = all, .causal = true};
  if (source < rank) {
    return {.queries = all, .keys = {.begin = 0, .count = tokens / 2}, .first = false};
  }
  return {.queries = {.begin = tokens / 2, .count = tokens / 2}, .keys = all, .first = false};
}

// Adds the tiles of one piece's queries with the keys of a piece that is not after it.
void AddTiles(const AttentionSpan& span, const Piece& queries, const Piece& keys,
              std::vector<AttentionTile>& tiles) {
  const bool same = queries.position == keys.position;
  const int64_t seen_until = std::min(queries.end(), SeenUntil(span, keys.end() - 1));
  int64_t end = queries.position;
  while (end < seen_until) {
    const int64_t begin = end;
    end = span.tile_queries > 0 ? std::min(begin + span.tile_queries, seen_until) : seen_until;
    // All queries of a tile begin to see at the same key.
    if (span.chunked) end = std::min(end, SeenUntil(span, begin));
    const int64_t keys_begin = std::max(keys.position, OldestKey(span, begin));
    const int64_t keys_end = std::min(keys.end(), end);
    const int64_t lead = begin - keys_begin;
    tiles.push_back({.queries = {.begin = queries.tokens.begin + begin - queries.position,
                                 .count = end - begin},
                     .keys = {.begin = keys.tokens.begin + keys_begin - keys.position,
                              .count = keys_end - keys_begin},
                     .window = span.chunked ? lead + end - begin : span.window,
                     .lead = lead,
                     .first = same});
  }
}

}  // namespace

int64_t RingStopCount(const AttentionSpan& span) {
  const int64_t others = span.cp - 1;
  if (span.window == 0 || others == 0) return 1 + others;
  return 1 + std::min(others, 2 * PiecesBack(span));
}

std::vector<int32_t> RingStops(const AttentionSpan& span) {
  const int64_t others = RingStopCount(span) - 1;
  std::vector<int32_t> stops = {0};
  // A partial ring visits as many distances forward as backward.
  for (int32_t hops = 1; hops < span.cp; ++hops) {
    const bool near = hops <= (others + 1) / 2;
    if (near || hops >= span.cp - others / 2) stops.push_back(hops);
  }
  return stops;
}

std::vector<AttentionTile> AttentionTiles(const AttentionSpan& span, int32_t rank, int32_t source) {
  if (span.window == 0) return {WholeTile(span, rank, source)};
  const std::vector<Piece> queries = PiecesOf(span, rank);
  const std::vector<Piece> keys = PiecesOf(span, source);
  std::vector<AttentionTile> tiles;
  for (const bool same : {true, false}) {
    for (const Piece& own : queries) {
      for (const Piece& other : keys) {
        if ((own.position == other.position) != same || other.position > own.position) continue;
        AddTiles(span, own, other, tiles);
      }
    }
  }
  return tiles;
}

}  // namespace meshwright::planner
