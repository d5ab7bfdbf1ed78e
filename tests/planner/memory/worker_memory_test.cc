#include "planner/memory/worker_memory.h"

#include <gtest/gtest.h>

namespace meshwright {
namespace {

// 16 tokens, hidden 32, 4 heads over 2 key/value heads of 8, FFN 48, vocabulary 64, 2 layers.
WorkerStage StageOf(int64_t element_bytes) {
  return {.block = {.tokens = 16,
                    .hidden = 32,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_dim = 8,
                    .ffn_hidden = 48,
                    .element_bytes = element_bytes},
          .layers = 2,
          .first = true,
          .last = false,
          .in_flight = 2,
          .micro_batches = 4,
          .seq_len = 16,
          .vocab = 64};
}

TEST(WorkerMemory, AFirstStagePeaksInTheBackwardOfItsLastBlock) {
  const WorkerActivations peak = PeakWorkerActivations(StageOf(4));
  // Per token and layer in fp32 words: 4 hidden widths, q and output 32 each, k and v 16 each, 4
  // log-sum-exps, 2 deviations, gate, up and product 48 each.
  const int64_t block_words = 16 * (4 * 32 + 2 * 32 + 2 * 16 + 4 + 2 + 3 * 48);
  EXPECT_EQ(peak.kept_bytes, 4 * 2 * (2 * block_words + 16));
  EXPECT_EQ(peak.loss_bytes, 0);
  // RoPE table, boundary, incoming gradient, product gradient.
  EXPECT_EQ(peak.workspace_bytes, 4 * (16 * 8 + 16 * 32 + 16 * 32 + 16 * 48));
}

TEST(WorkerMemory, ALastStageWithALargeVocabularyPeaksInItsHead) {
  WorkerStage stage = StageOf(4);
  stage.first = false;
  stage.last = true;
  stage.in_flight = 1;
  stage.vocab = 6400;
  const WorkerActivations peak = PeakWorkerActivations(stage);
  // Logits, input and normed input, deviations, three softmax statistics, targets.
  EXPECT_EQ(peak.loss_bytes, 4 * 16 * (6400 + 2 * 32 + 1 + 3 + 1));
  // RoPE table, the gradient of the head's input (or the one sent back), loss accumulator.
  EXPECT_EQ(peak.workspace_bytes, 4 * (16 * 8 + 16 * 32) + 8);
}

TEST(WorkerMemory, Bf16ProductsAddScratchOfOnePieceAtMost) {
  WorkerStage stage = StageOf(2);
  stage.last = true;
  stage.in_flight = 1;
  stage.block.tokens = 1 << 16;
  stage.vocab = 64000;
  EXPECT_EQ(MatmulPieceRows(1 << 16, 64000), 16);
  const WorkerActivations peak = PeakWorkerActivations(stage);
  const int64_t hidden = stage.block.tokens * 32 * 2;
  const int64_t piece = 6 * kMatmulPieceElements;
  EXPECT_LE(peak.workspace_bytes, hidden + piece + 4 * 16 * 8 + 8 + 128);
}

}  // namespace
}  // namespace meshwright
