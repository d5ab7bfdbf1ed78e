#include <gtest/gtest.h>

#include <vector>

#include "planner/memory/rank_memory.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

class RoutedMemoryTest : public testing::Test {
 protected:
  RoutedMemoryTest() : context_(MakeContext("qwen3-30b-a3b", "local-cpu", 64, 16)) {
    context_.profile = FindProfile("meshwright").value();
    LayerGroup& layers = context_.model.groups.front();
    layers.count = 4;
    // One micro-batch of each layer, all of its experts' rows, where routing is balanced.
    even_ = 64 * layers.ffn.experts.top_k;
  }

  int64_t Balanced(const char* layout) const {
    return EstimateRankMemory(context_.get(), MakeLayout(layout), 0).allocator_bytes();
  }
  absl::StatusOr<int64_t> Routed(const char* layout, const std::vector<ExpertRows>& rows) const {
    const auto memory = EstimateRoutedRankMemory(context_.get(), MakeLayout(layout), 0, rows);
    if (!memory.ok()) return memory.status();
    return memory->allocator_bytes();
  }
  std::vector<ExpertRows> Even(int64_t layers, int64_t micro_batches) const {
    const ExpertRows even = {.sent = even_, .padded = even_, .routed = even_};
    return std::vector<ExpertRows>(static_cast<size_t>(layers * micro_batches), even);
  }

  TestContext context_;
  int64_t even_ = 0;
};

TEST_F(RoutedMemoryTest, EvenRowsAreTheBalancedEstimate) {
  // A rank of two has half of the layers, and 8 or 16 micro-batches.
  for (const char* layout : {"tp1.pp2.dp2.ep2.mb1", "tp1.pp2.dp1.mb1.sched=zb_h1",
                             "tp1.pp2.dp2.ep2.mb1.zero2.sched=gpipe",
                             "tp1.pp2.dp2.ep2.mb1.vpp2.zero3.sched=breadth_first",
                             "tp1.pp2.dp2.ep2.mb1.vpp2.zero3.sched=interleaved"}) {
    const int64_t micro_batches = MakeLayout(layout).MicroBatches(16);
    EXPECT_EQ(Routed(layout, Even(2, micro_batches)).value(), Balanced(layout)) << layout;
  }
}

TEST_F(RoutedMemoryTest, OneFullMicroBatchCountsOnceWhileItIsInFlight) {
  // Two of sixteen micro-batches are in flight on the first rank.
  const char* layout = "tp1.pp2.dp1.mb1";
  std::vector<ExpertRows> rows = Even(2, 16);
  rows[14].routed += 100;
  const int64_t one = Routed(layout, rows).value();
  rows[15].routed += 100;
  const int64_t both_layers = Routed(layout, rows).value();
  EXPECT_GT(one, Balanced(layout));
  EXPECT_GT(both_layers, one);
  // Another micro-batch, long gone when this one comes, is not a second one on top.
  rows[0].routed += 100;
  rows[1].routed += 100;
  EXPECT_EQ(Routed(layout, rows).value(), both_layers);
}

// Of two layers of 128 experts, in fp32.
TEST_F(RoutedMemoryTest, SelectionBiasesAreHeldWhereRoutingIsLearned) {
  const char* layout = "tp1.pp2.dp2.ep2.mb1";
  const int64_t without = Balanced(layout);
  Experts& experts = context_.model.groups.front().ffn.experts;
  experts.selection_bias = true;
  EXPECT_EQ(Balanced(layout), without);
  context_.training.routing = Routing::kLearned;
  EXPECT_EQ(Balanced(layout), without + int64_t{2} * 128 * 4);
  EXPECT_EQ(Routed(layout, Even(2, 8)).value(), without + int64_t{2} * 128 * 4);
  experts.bias_update_rate = 0.0;
  EXPECT_EQ(Balanced(layout), without);
}

TEST_F(RoutedMemoryTest, FewerRowsTakeLess) {
  const char* layout = "tp1.pp2.dp2.ep2.mb1";
  std::vector<ExpertRows> rows = Even(2, 8);
  for (ExpertRows& of_layer : rows) of_layer.padded = of_layer.routed = even_ / 2;
  EXPECT_LT(Routed(layout, rows).value(), Balanced(layout));
}

TEST_F(RoutedMemoryTest, RowsOfEveryLayerAndMicroBatchAreNeeded) {
  for (const int64_t layers : {1, 3}) {
    const auto bytes = Routed("tp1.pp2.dp2.ep2.mb1", Even(layers, 8));
    ASSERT_FALSE(bytes.ok());
    EXPECT_NE(bytes.status().message().find("8 micro-batches"), std::string::npos)
        << bytes.status();
  }
}

}  // namespace
}  // namespace meshwright::planner
