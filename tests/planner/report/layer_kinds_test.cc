#include "planner/report/layer_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<std::pair<std::string, int64_t>> NamesAndLayers(const char* model, const char* text) {
  const TestContext test = MakeContext(model, "h100", 8192, 64);
  std::vector<std::pair<std::string, int64_t>> found;
  for (const LayerKind& kind : LayerKindsOf(test.get(), MakeLayout(text))) {
    found.emplace_back(kind.name, kind.layers);
    EXPECT_FALSE(kind.operators.empty()) << kind.name;
  }
  return found;
}

TEST(LayerKinds, CountTheLayersOfEachShape) {
  EXPECT_THAT(NamesAndLayers("llama-3-8b", "tp2.pp2.dp2.mb1.sp1"),
              ElementsAre(Pair("attention, FFN", 32)));
  EXPECT_THAT(
      NamesAndLayers("deepseek-v3", "tp1.pp1.dp16.mb1.ep16"),
      ElementsAre(Pair("latent attention, FFN", 3), Pair("latent attention, 256 experts", 58)));
  EXPECT_THAT(NamesAndLayers("gemma-3-12b", "tp1.pp1.dp8.mb1"),
              ElementsAre(Pair("attention over 1,024 keys, FFN", 40), Pair("attention, FFN", 8)));
  EXPECT_THAT(NamesAndLayers("qwen3.5-9b", "tp1.pp1.dp8.mb1"),
              ElementsAre(Pair("gated delta net, FFN", 24), Pair("attention, FFN", 8)));
}

// Each of the two chunks recomputes its first three layers.
TEST(LayerKinds, DivideThoseThatAreRecomputedFromTheOthers) {
  const TestContext test = MakeContext("llama-3-8b", "h100", 8192, 64);
  const auto kinds = LayerKindsOf(test.get(), MakeLayout("tp2.pp2.dp2.mb1.sp1.rc=block:3"));
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_TRUE(kinds[0].recomputed);
  EXPECT_EQ(kinds[0].layers, 6);
  EXPECT_FALSE(kinds[1].recomputed);
  EXPECT_EQ(kinds[1].layers, 26);
  const auto recompute_s = [](const LayerKind& kind) {
    double sum_s = 0.0;
    for (const OperatorTime& op : kind.operators) sum_s += op.time.recompute_s;
    return sum_s;
  };
  EXPECT_GT(recompute_s(kinds[0]), 0.0);
  EXPECT_EQ(recompute_s(kinds[1]), 0.0);
}

}  // namespace
}  // namespace meshwright::planner
