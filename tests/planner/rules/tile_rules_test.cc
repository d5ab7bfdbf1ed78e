#include "planner/rules/tile_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/scale_tiles.h"
#include "planner/rules/rule_list.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

std::string SentenceOf(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  const auto violation = CheckLayout(test.get(), layout.devices(), layout);
  return violation ? Describe(*violation) : "";
}

TestContext Narrowed(const char* model, int64_t seq_len, const char* framework = "meshwright") {
  TestContext test = MakeContext(model, "h100", seq_len, 64, framework);
  test.training.precision = Precision::kFp8Blockwise;
  return test;
}

TEST(TileRules, LetLayoutsThroughThatCutNoTile) {
  EXPECT_EQ(SentenceOf(Narrowed("llama-3-8b", 4096), "tp8.cp2.pp1.dp1.mb1.sp1"), "");
  EXPECT_EQ(SentenceOf(Narrowed("mixtral-8x7b", 4096), "tp1.pp1.dp8.ep8"), "");
}

TEST(TileRules, NameTheWidthThatIsCut) {
  TestContext test = Narrowed("llama-3-8b", 4096);
  EXPECT_EQ(SentenceOf(test, "tp8.pp1.dp1"), "");
  test.model.groups.front().attention.head_dim = 64;
  EXPECT_EQ(SentenceOf(test, "tp8.pp1.dp1"),
            "key/value heads * head_dim = 512 over tp8 is 64, which doesn't split into whole fp8 "
            "scaling tiles; must be a multiple of 128");
  test.model.groups.front().ffn.hidden = int64_t{8} * 192;
  EXPECT_EQ(SentenceOf(test, "tp4.pp1.dp1"), "");
  EXPECT_EQ(SentenceOf(test, "tp8.pp1.dp1").find("key/value"), 0);
  test.model.hidden = 4160;
  EXPECT_EQ(SentenceOf(test, "tp1.pp1.dp1"),
            "hidden = 4160 doesn't split into whole fp8 scaling tiles; must be a multiple of 128");
}

TEST(TileRules, NameTheTokensThatAreCut) {
  EXPECT_EQ(
      SentenceOf(Narrowed("llama-3-8b", 4000), "tp1.pp1.dp1"),
      "sequences of 4000 tokens don't split into whole fp8 scaling tiles; must be a multiple of "
      "128");
  EXPECT_EQ(SentenceOf(Narrowed("llama-3-8b", 2176), "tp1.cp2.pp1.dp1"),
            "the 544 tokens of each block under cp2 don't split into whole fp8 scaling tiles; must "
            "be a multiple of 128, so the sequence length must be a multiple of 512");
  const TestContext odd = Narrowed("llama-3-8b", 4096 + 128);
  EXPECT_EQ(SentenceOf(odd, "tp2.pp1.dp1.mb1.sp1"),
            "the 2112 tokens that each rank holds under tp2 with sp1 don't split into whole fp8 "
            "scaling tiles; must be a multiple of 128");
  EXPECT_EQ(SentenceOf(odd, "tp2.pp1.dp1.mb2.sp1"), "");
  EXPECT_EQ(SentenceOf(odd, "tp2.pp1.dp1.mb1"), "");
}

TEST(TileRules, SayNothingOfOtherFrameworksAndFormats) {
  EXPECT_EQ(SentenceOf(Narrowed("llama-3-8b", 4000, "megatron"), "tp1.pp1.dp1"), "");
  TestContext wide = Narrowed("llama-3-8b", 4000);
  wide.training.precision = Precision::kBf16;
  EXPECT_EQ(SentenceOf(wide, "tp1.pp1.dp1"), "");
}

TEST(TileRules, RefuseWhatHasNoNarrowedProductsAndOtherRecipes) {
  TestContext latent = Narrowed("llama-3-8b", 4096);
  latent.cluster = FindCluster("local-cpu", /*host_cores=*/2).value();
  latent.model.groups.front().attention = {.kind = AttentionKind::kLatent,
                                           .heads = 32,
                                           .kv_heads = 32,
                                           .head_dim = 128,
                                           .value_dim = 128,
                                           .query_rank = 512,
                                           .kv_rank = 256,
                                           .rotary_dim = 64};
  EXPECT_EQ(SentenceOf(latent, "tp1.pp1.dp1"),
            "the worker can't run fp8-blockwise in a model with latent_attention; it runs bf16, "
            "fp32 or fp64 there");
  TestContext other = Narrowed("llama-3-8b", 4096);
  other.training.precision = Precision::kFp8Current;
  EXPECT_EQ(SentenceOf(other, "tp1.pp1.dp1"),
            "the worker can't run fp8-current; it runs bf16, fp32, fp64, fp8-blockwise");
}

// What a block keeps, by hand: of every input of a product a byte and 4 for 128 of them.
TEST(NarrowedInputs, AreKeptTileByTile) {
  BlockShape shape = {.tokens = 256,
                      .hidden = 384,
                      .heads = 4,
                      .kv_heads = 2,
                      .head_dim = 128,
                      .ffn_hidden = 640,
                      .keys = 256};
  shape.quantisation = QuantisationOf(Precision::kFp8Blockwise);
  shape.worker_quantises = true;
  const OperatorList block = BlockOperators(shape);
  const auto narrow = [](int64_t width) { return 256 * width + 2 * width * 4; };
  EXPECT_EQ(KeptBytes(block, KeptTensor::kAttentionNormOutput), narrow(384));
  EXPECT_EQ(KeptBytes(block, KeptTensor::kAttentionOutput), narrow(512) + int64_t{2} * 256 * 512);
  EXPECT_EQ(KeptBytes(block, KeptTensor::kFfnNormOutput), narrow(384));
  EXPECT_EQ(KeptBytes(block, KeptTensor::kFfnProduct), narrow(640));
}

TEST(ScaleTiles, BeginAnewWithEveryExpert) {
  EXPECT_EQ(TileRowsOf(256, 1), 2);
  EXPECT_EQ(TileRowsOf(257, 1), 3);
  // 1 and 129 rows take three, two of 65 take two: there is room for either.
  EXPECT_EQ(TileRowsOf(130, 2), 3);
  EXPECT_EQ(BlockTiledBytes(130, 640), 130 * 640 + 2 * 8 * 4);
}

}  // namespace
}  // namespace meshwright::planner
