#include "planner/worker_memory/worker_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "planner/schedule/placement.h"
#include "planner/worker_memory/worker_matmul.h"
#include "planner/worker_memory/worker_peak.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

// 16 tokens, hidden 32, 4 heads over 2 key/value heads of 8, FFN 48, vocabulary 64.
WorkerShape ShapeOf(int64_t element_bytes) {
  return {.block = {.tokens = 16,
                    .hidden = 32,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_dim = 8,
                    .ffn_hidden = 48,
                    .element_bytes = element_bytes,
                    .selective_drops_operators = true,
                    .keys = 16,
                    .vocab = 64}};
}

// A layout's stages of two layers.
struct TwoLayerStages {
  WorkerShape shape = ShapeOf(4);
  Recompute recompute = Recompute::kNone;
  int32_t recompute_layers = 0;

  WorkerStageBytes BytesOf(bool first, bool last) const {
    return WorkerStages({shape}, {.recompute = recompute, .recompute_layers = recompute_layers})
        .BytesOf({.layers = {{.group = 0, .count = 2}}, .first = first, .last = last});
  }
};

// Per token and layer in fp32 words: 4 hidden widths, q and output 32 each, k and v 16 each, 4
// log-sum-exps, 2 deviations, gate, up and product 48 each.
constexpr int64_t kBlockWords = int64_t{16} * (4 * 32 + 2 * 32 + 2 * 16 + 4 + 2 + 3 * 48);
constexpr int64_t kHiddenWords = int64_t{16} * 32;
constexpr int64_t kProductWords = int64_t{16} * 48;

// A rank and its chunks.
struct RankAndStages {
  std::vector<WorkerStageBytes> stages;
  WorkerRank rank;
};

RankAndStages RankOf(const Layout& layout, int32_t pipeline_rank, int64_t micro_batches,
                     const TwoLayerStages& stages) {
  RankAndStages made = {
      .stages = {},
      .rank = {
          .pipeline_rank = pipeline_rank, .micro_batches = micro_batches, .rope_table_bytes = 512}};
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const int32_t number = StageOfChunk(layout, pipeline_rank, chunk);
    made.stages.push_back(stages.BytesOf(number == 0, number + 1 == StageCount(layout)));
  }
  for (const WorkerStageBytes& bytes : made.stages) made.rank.chunks.push_back(&bytes);
  return made;
}

WorkerActivations PeakOf(const Layout& layout, int32_t pipeline_rank, int64_t micro_batches,
                         const TwoLayerStages& stages) {
  return PeakWorkerActivations(layout, RankOf(layout, pipeline_rank, micro_batches, stages).rank);
}

TEST(WorkerMemory, AFirstStagePeaksInTheBackwardOfItsLastBlock) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 2, 1);
  const WorkerActivations peak = PeakOf(layout, 0, 4, TwoLayerStages());
  EXPECT_EQ(peak.kept_bytes, int64_t{4} * 2 * (2 * kBlockWords + 16));
  EXPECT_EQ(peak.loss_bytes, 0);
  // RoPE table, an activation on its way, room for the next gradient, incoming gradient, product
  // gradient.
  EXPECT_EQ(peak.workspace_bytes, 512 + 4 * (3 * kHiddenWords + kProductWords));
}

TEST(WorkerMemory, ALastStageWithALargeVocabularyPeaksInItsHead) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 2, 1);
  TwoLayerStages stages;
  stages.shape.block.vocab = 6400;
  const WorkerActivations peak = PeakOf(layout, 1, 4, stages);
  // Logits, input and normed input, deviations, three softmax statistics, targets.
  EXPECT_EQ(peak.loss_bytes, 4 * 16 * (6400 + 2 * 32 + 1 + 3 + 1));
  // RoPE table, the gradient of the head's input, the one sent back, room for the next activation,
  // loss accumulator.
  EXPECT_EQ(peak.workspace_bytes, 512 + int64_t{4} * 3 * kHiddenWords + 8);
}

TEST(WorkerMemory, Fp64TakesTwiceWhatFp32Does) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 2, 1);
  TwoLayerStages stages = {.shape = ShapeOf(8)};
  stages.shape.block.vocab = 6400;
  const WorkerActivations peak = PeakOf(layout, 1, 4, stages);
  // All but targets.
  EXPECT_EQ(peak.loss_bytes, 8 * 16 * (6400 + 2 * 32 + 1 + 3) + 4 * 16);
  EXPECT_EQ(peak.kept_bytes, int64_t{8} * 2 * kBlockWords);
}

TEST(WorkerMemory, GpipeHoldsTheHeadOfEveryMicroBatch) {
  const Layout layout = Pipeline(ScheduleKind::kGpipe, 2, 1);
  const WorkerActivations peak = PeakOf(layout, 1, 4, TwoLayerStages());
  EXPECT_EQ(peak.loss_bytes, 4 * 4 * 16 * (64 + 2 * 32 + 1 + 3 + 1));
  EXPECT_EQ(peak.kept_bytes, int64_t{4} * 4 * 2 * kBlockWords);
}

// Of four query and two key heads of 8, with a deviation each.
TEST(WorkerMemory, NormedHeadsAreMadeAgainForTheBackwardOfAttention) {
  WorkerShape shape = ShapeOf(4);
  shape.block.keeps_head_norm_input = false;
  const WorkerBlockBytes plain = BlockBytes(shape, {});
  shape.block.head_norm = true;
  const WorkerBlockBytes normed = BlockBytes(shape, {});
  EXPECT_EQ(normed.kept, plain.kept);
  EXPECT_EQ(normed.split, plain.split);
  EXPECT_EQ(normed.input.attention.workspace - plain.input.attention.workspace,
            4 * 16 * 6 * (8 + 1));
}

TEST(WorkerMemory, FullRecomputeKeepsInputsAndOneBlock) {
  const Layout layout = Pipeline(ScheduleKind::kGpipe, 2, 1);
  TwoLayerStages stages;
  stages.recompute = Recompute::kFull;
  const WorkerActivations peak = PeakOf(layout, 0, 4, stages);
  EXPECT_EQ(peak.kept_bytes, int64_t{4} * 4 * (2 * kHiddenWords + 16));
  EXPECT_EQ(peak.workspace_bytes,
            512 + 4 * (kBlockWords - kHiddenWords + 3 * kHiddenWords + kProductWords));
}

TEST(WorkerMemory, BlockRecomputeOfSomeLayersPeaksInOneThatIsNot) {
  const Layout layout = Pipeline(ScheduleKind::kGpipe, 2, 1);
  TwoLayerStages stages;
  stages.recompute = Recompute::kBlock;
  stages.recompute_layers = 1;
  const WorkerActivations peak = PeakOf(layout, 0, 4, stages);
  EXPECT_EQ(peak.kept_bytes, int64_t{4} * 4 * (kBlockWords + kHiddenWords + 16));
  EXPECT_EQ(peak.workspace_bytes, 512 + 4 * (3 * kHiddenWords + kProductWords));
}

TEST(WorkerMemory, SelectiveRecomputeBringsBackOneNormAndOneProduct) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 2, 1);
  TwoLayerStages stages;
  stages.recompute = Recompute::kSelective;
  const WorkerActivations peak = PeakOf(layout, 0, 4, stages);
  EXPECT_EQ(peak.kept_bytes,
            int64_t{4} * 2 * (2 * (kBlockWords - 2 * kHiddenWords - kProductWords) + 16));
  EXPECT_EQ(peak.workspace_bytes, 512 + 4 * (4 * kHiddenWords + 2 * kProductWords));
}

// What the FFN's backward takes beside what is kept and the gradient that comes in.
int64_t FfnGradientWords(const BlockShape& block) {
  const auto words = [&](int64_t bytes) { return bytes / block.element_bytes; };
  const WorkerBlockBytes bytes = BlockBytes({.block = block}, {});
  return words(bytes.backward.ffn.workspace) - block.tokens * block.hidden / block.stream_ranks();
}

TEST(WorkerMemory, TheFfnsGradientHoldsTwoGatheredActivationsOrItsProduct) {
  BlockShape block = ShapeOf(4).block;
  block.tp = 2;
  block.sequence_parallel = true;
  // The gradient of all tokens and the input of the first projection, until its weight's turn.
  EXPECT_EQ(FfnGradientWords(block), 2 * kHiddenWords);
  block.ffn_hidden = 96;
  EXPECT_EQ(FfnGradientWords(block), kHiddenWords + kProductWords);
  // Little of it: the input, partial sums, and what is left of them.
  block.ffn_hidden = 16;
  EXPECT_EQ(FfnGradientWords(block), 5 * kHiddenWords / 2 - int64_t{16} * 8);
}

TEST(WorkerMemory, Bf16ProductsAddScratchOfOnePieceAtMost) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 1, 1);
  TwoLayerStages stages = {.shape = ShapeOf(2)};
  stages.shape.block.tokens = 1 << 16;
  stages.shape.block.vocab = 64000;
  EXPECT_EQ(MatmulPieceRows(1 << 16, 64000), 16);
  const WorkerActivations peak = PeakOf(layout, 0, 4, stages);
  const int64_t hidden = stages.shape.block.tokens * 32 * 2;
  const int64_t piece = 6 * kMatmulPieceElements;
  EXPECT_LE(peak.workspace_bytes, hidden + piece + 512 + 8 + 128);
}

// One action after the other, without what the walk over runs and its cut at four rounds skip.
TEST(WorkerMemory, ThePeakIsReachedWithinAFewRoundsOfThePipeline) {
  ForEachPipeline(4, 3, 12, [](const Layout& one, int32_t micro_batches) {
    if (micro_batches != 12) return;  // every schedule has a list for them
    if (one.schedule == ScheduleKind::kGpipe || one.schedule == ScheduleKind::kBreadthFirst) return;
    int64_t before = 0;
    for (const int32_t rounds : {4, 5, 9}) {
      const int64_t bytes =
          PeakOf(one, one.pp - 1, int64_t{rounds} * one.pp, TwoLayerStages()).total_bytes();
      EXPECT_TRUE(rounds == 4 || bytes == before) << Name(one, rounds * one.pp);
      before = bytes;
    }
  });
}

}  // namespace
}  // namespace meshwright::planner
