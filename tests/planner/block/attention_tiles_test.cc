#include "planner/block/attention_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "planner/block/block.h"
#include "planner/layout/sequence_share.h"

namespace meshwright::planner {
namespace {

using Stops = std::vector<int32_t>;

TEST(RingStops, AreAllRanksWithoutAWindow) {
  EXPECT_EQ(RingStops({.seq_len = 16, .cp = 1}), Stops({0}));
  EXPECT_EQ(RingStops({.seq_len = 16, .cp = 4}), Stops({0, 1, 2, 3}));
}

TEST(RingStops, EndWhereTheWindowDoes) {
  // Pieces of 8 tokens: the first query of one sees 7 of the piece before it, or 2 of the one
  // before that.
  EXPECT_EQ(RingStops({.seq_len = 128, .cp = 8, .window = 1}), Stops({0}));
  EXPECT_EQ(RingStops({.seq_len = 128, .cp = 8, .window = 2}), Stops({0, 1, 7}));
  EXPECT_EQ(RingStops({.seq_len = 128, .cp = 8, .window = 9}), Stops({0, 1, 7}));
  EXPECT_EQ(RingStops({.seq_len = 128, .cp = 8, .window = 10}), Stops({0, 1, 2, 6, 7}));
  EXPECT_EQ(RingStops({.seq_len = 128, .cp = 8, .window = 100}), Stops({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(RingStops({.seq_len = 32, .cp = 2, .window = 2}), Stops({0, 1}));
}

TEST(RingStops, EndWhereChunksDo) {
  // Pieces of 8 tokens.
  const auto stops = [](int64_t chunk) {
    return RingStops({.seq_len = 128, .cp = 8, .window = chunk, .chunked = true});
  };
  EXPECT_EQ(stops(4), Stops({0}));
  EXPECT_EQ(stops(8), Stops({0}));
  EXPECT_EQ(stops(6), Stops({0, 1, 7}));
  EXPECT_EQ(stops(16), Stops({0, 1, 7}));
  EXPECT_EQ(stops(24), Stops({0, 1, 2, 6, 7}));
  EXPECT_EQ(stops(100), Stops({0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(RingStops, AreTheMessagesOfABlock) {
  BlockShape shape = {.tokens = 16,
                      .hidden = 8,
                      .heads = 2,
                      .kv_heads = 2,
                      .head_dim = 4,
                      .ffn_hidden = 16,
                      .keys = 128,
                      .cp = 8};
  const auto messages = [&] {
    for (const Operator& op : BlockOperators(shape)) {
      if (op.kind != OperatorKind::kAttention) continue;
      EXPECT_EQ(op.pass(PassKind::kForward).collectives.size(), op.attention.ring_stops > 1);
      return op.attention.ring_stops - 1;
    }
    return int64_t{-1};
  };
  EXPECT_EQ(messages(), 7);
  shape.window = 10;
  EXPECT_EQ(messages(), 4);
  shape.window = 1;
  EXPECT_EQ(messages(), 0);
}

// Positions of a rank's tokens in their order.
std::vector<int64_t> PositionsOf(const AttentionSpan& span, int32_t rank) {
  std::vector<int64_t> positions;
  for (const SequencePiece& piece : SequencePiecesOf(span.seq_len, rank, span.cp)) {
    for (int64_t i = 0; i < piece.count; ++i) positions.push_back(piece.begin + i);
  }
  return positions;
}

bool Sees(const AttentionTile& tile, int64_t query, int64_t key) {
  if (tile.window == 0) return !tile.causal || key <= query;
  const int64_t ahead = query + tile.lead - key;
  return ahead >= 0 && ahead < tile.window;
}

// Keys that the query at `position` sees.
int64_t KeysSeen(const AttentionSpan& span, int64_t position) {
  if (span.window == 0) return position + 1;
  if (span.chunked) return position % span.window + 1;
  return std::min(position + 1, span.window);
}

// The same of a band, which kernels take where nothing of it is negative.
bool IsInBand(const AttentionTile& tile, int64_t query, int64_t key) {
  const KeyBand band = tile.band();
  if (band.older < 0 || band.newer < 0) return false;
  const int64_t place = query + tile.keys.count - tile.queries.count;
  return place - band.older <= key && key <= place + band.newer;
}

class AttentionTilesTest
    : public testing::TestWithParam<std::tuple<int32_t, int64_t, bool, int64_t>> {};

TEST_P(AttentionTilesTest, HaveEveryQueryAndEveryKeyThatItSeesOnce) {
  const auto [cp, window, chunked, tile_queries] = GetParam();
  if (chunked && window == 0) GTEST_SKIP() << "chunks have a length";
  const AttentionSpan span = {.seq_len = 1200,
                              .cp = cp,
                              .window = window,
                              .chunked = chunked,
                              .tile_queries = tile_queries};
  for (int32_t rank = 0; rank < cp; ++rank) {
    const std::vector<int64_t> queries = PositionsOf(span, rank);
    std::vector<int64_t> seen(queries.size(), 0);
    std::vector<bool> met(queries.size(), false);
    for (const int32_t hops : RingStops(span)) {
      const int32_t source = (rank + cp - hops) % cp;
      const std::vector<int64_t> keys = PositionsOf(span, source);
      for (const AttentionTile& tile : AttentionTiles(span, rank, source)) {
        if (window > 0 && tile_queries > 0) {
          EXPECT_LE(tile.queries.count, tile_queries);
        }
        for (int64_t i = 0; i < tile.queries.count; ++i) {
          const int64_t query = tile.queries.begin + i;
          EXPECT_EQ(tile.first, !met[query]);
          met[query] = true;
          int64_t of_tile = 0;
          for (int64_t j = 0; j < tile.keys.count; ++j) {
            if (tile.masked()) {
              ASSERT_EQ(IsInBand(tile, i, j), Sees(tile, i, j));
            }
            if (!Sees(tile, i, j)) continue;
            const int64_t ahead = queries[query] - keys[tile.keys.begin + j];
            ASSERT_GE(ahead, 0);
            ASSERT_LT(ahead, KeysSeen(span, queries[query]));
            ++of_tile;
          }
          ASSERT_GT(of_tile, 0) << "a row of the mask without a key";
          seen[query] += of_tile;
        }
      }
    }
    for (size_t query = 0; query < queries.size(); ++query) {
      EXPECT_EQ(seen[query], KeysSeen(span, queries[query]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spans, AttentionTilesTest,
                         testing::Combine(testing::Values(1, 2, 3, 6),
                                          testing::Values(0, 1, 2, 90, 101, 102, 700),
                                          testing::Bool(), testing::Values(0, kWindowTileQueries)));

TEST(AttentionSpans, AreOneTileWhereAKernelKnowsWindows) {
  AttentionSpan span = {.seq_len = 1200, .window = 700, .tile_queries = 0};
  EXPECT_TRUE(span.is_one_tile());
  EXPECT_EQ(AttentionTiles(span, 0, 0).size(), 1u);
  EXPECT_EQ(AttentionTiles(span, 0, 0).front().band(), (KeyBand{.older = 699, .newer = 0}));
  span.chunked = true;
  EXPECT_FALSE(span.is_one_tile());
  EXPECT_EQ(AttentionTiles(span, 0, 0).size(), 2u);
}

TEST(AttentionShape, CountsTheKeysOfChunks) {
  AttentionShape shape = {.tokens = 1, .keys = 1000, .window = 250, .chunked = true};
  EXPECT_DOUBLE_EQ(shape.mean_keys(), 125.0);
  // Three of 300 and one of 100.
  shape.window = 300;
  EXPECT_DOUBLE_EQ(shape.mean_keys(), (3.0 * 300.0 * 150.0 + 100.0 * 50.0) / 1000.0);
}

}  // namespace
}  // namespace meshwright::planner
