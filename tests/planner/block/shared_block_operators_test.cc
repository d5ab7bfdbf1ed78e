#include "planner/block/shared_block_operators.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/parameters.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kSharedHidden = 64;
constexpr int64_t kSharedFfn = 96;
constexpr int64_t kSharedRank = 8;

LayerGroup RecurrentLayers(int64_t count) {
  return {.attention = kNoAttention,
          .ffn = kNoFfn,
          .count = count,
          .recurrence = {.kind = RecurrenceKind::kMamba2,
                         .heads = 4,
                         .key_heads = 2,
                         .key_dim = 32,
                         .value_dim = 32,
                         .conv_width = 4,
                         .chunk = 128}};
}

LayerGroup SharingLayer(bool owns_weights) {
  LayerGroup layer = RecurrentLayers(1);
  layer.attention = {.heads = 4, .kv_heads = 4, .head_dim = 2 * kSharedHidden / 4};
  layer.ffn = {.kind = FfnKind::kGeGlu, .hidden = kSharedFfn};
  layer.shared_block = {.runs = true, .owns_weights = owns_weights, .adapter_rank = kSharedRank};
  return layer;
}

ModelSpec Zamba() {
  ModelSpec model;
  model.hidden = kSharedHidden;
  model.vocab = 512;
  model.tied_embeddings = true;
  model.positions = Positions::kNone;
  model.groups = {RecurrentLayers(2), SharingLayer(true), RecurrentLayers(2), SharingLayer(false)};
  return model;
}

// The block's matrices: queries, keys and values of an input 2 * kSharedHidden wide, the output, a
// gated FFN, and two norms.
constexpr int64_t kBlock = 3 * (2 * kSharedHidden) * (2 * kSharedHidden) +
                           2 * kSharedHidden * kSharedHidden + 3 * kSharedHidden * kSharedFfn +
                           2 * kSharedHidden + kSharedHidden;
// What each layer has of its own beside its recurrence: a projection, and low-rank matrices.
constexpr int64_t kOwn =
    kSharedHidden * kSharedHidden + kSharedHidden * kSharedRank + kSharedRank * 2 * kSharedFfn;

TEST(SharedBlockTest, WeightsCountOnceAndLowRankMatricesInEachLayer) {
  const ModelSpec model = Zamba();
  ASSERT_TRUE(Validate(model).ok()) << Validate(model);
  const int64_t recurrent = BlockParameters(model, model.groups[0]);
  EXPECT_EQ(BlockParameters(model, model.groups[1]), recurrent + kBlock + kOwn);
  EXPECT_EQ(BlockParameters(model, model.groups[3]), recurrent + kOwn);
  EXPECT_EQ(Parameters(model), ActiveParameters(model));
}

TEST(SharedBlockTest, ALayerThatBorrowsWeightsMultipliesAsMuchAsTheirOwner) {
  ModelSpec owners = Zamba();
  owners.groups[3] = owners.groups[1];
  const TrainingSpec training = {.seq_len = 1024, .global_batch = 1};
  EXPECT_EQ(CausalStepFlops(Zamba(), training), CausalStepFlops(owners, training));
  EXPECT_EQ(PalmStepFlops(Zamba(), training), PalmStepFlops(owners, training));
  EXPECT_LT(Parameters(Zamba()), Parameters(owners));
}

TEST(SharedBlockTest, ARankHoldsNoBorrowedWeightsAndTrainsNone) {
  const ModelSpec model = Zamba();
  BlockShape shape = WholeShape(model, model.groups[3], 1024);
  EXPECT_EQ(RankParameters(BlockOperators(shape)).all, BlockParameters(model, model.groups[3]));
  TrainedParts parts;
  parts.adapter = {.kind = AdapterKind::kLora, .rank = 4, .targets = {AdapterTarget::kDown}};
  const auto trainable = [&](const LayerGroup& layer) {
    ModelSpec alone = model;
    alone.groups = {layer};
    return TrainableParameters(alone, parts);
  };
  EXPECT_EQ(trainable(model.groups[1]), 4 * (kSharedFfn + kSharedHidden));
  EXPECT_EQ(trainable(model.groups[3]), 0);
}

TEST(SharedBlockTest, KeepsHiddenStateAndEmbeddingSideBySide) {
  const ModelSpec model = Zamba();
  const OperatorList layer = BlockOperators(WholeShape(model, model.groups[3], 1024));
  // Bytes of a token: the norm's input, and the input of the layer's own projection.
  EXPECT_EQ(KeptBytes(layer, KeptTensor::kSharedInput), 2 * (2 * kSharedHidden + kSharedHidden));
  const Operator* qkv = Find(layer, OperatorName::kQkvProjection);
  ASSERT_NE(qkv, nullptr);
  EXPECT_EQ(qkv->matmul.inputs, 2 * kSharedHidden);
  // The recurrence has a norm of its own, whose output it keeps.
  EXPECT_NE(Find(layer, OperatorName::kAttentionNorm), nullptr);
  EXPECT_EQ(KeptBytes(layer, KeptTensor::kAttentionNormOutput),
            2 * (2 * kSharedHidden + kSharedHidden));
}

TEST(SharedBlockTest, AttentionMayHaveLowRankMatricesToo) {
  ModelSpec model = Zamba();
  const int64_t before = BlockParameters(model, model.groups[3]);
  model.groups[3].shared_block.adapts_attention = true;
  EXPECT_EQ(BlockParameters(model, model.groups[3]) - before,
            3 * kSharedRank * 2 * (2 * kSharedHidden));
}

}  // namespace
}  // namespace meshwright::planner
