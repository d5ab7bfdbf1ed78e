// What a layout moves to the hosts, on the device and on the host, against sums by hand.
#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/parameters.h"
#include "planner/estimate/estimate.h"
#include "planner/memory/profile_memory.h"
#include "planner/memory/rank_memory.h"
#include "planner/profile/layer_shape.h"
#include "tests/planner/offload_context.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kOffloadedTokens = 4096;

// 32 layers.
TestContext OffloadedLlama7b(int64_t global_batch = 64) {
  return OffloadContext("llama-2-7b", kOffloadedTokens, global_batch);
}

MemoryEstimate OffloadedOnRank(const TestContext& test, const char* layout, int32_t rank = 0) {
  return EstimateRankMemory(test.get(), MakeLayout(layout), rank);
}

int64_t LayerBytes(const TestContext& test) {
  return KeptBytes(
      BlockOperators(LayerShape(test.get(), MakeLayout("tp1.pp1.dp1"), test.model.groups.front())));
}

// Moments leave the device only as far as it is fuller than kPagingShare, and masters never do.
TEST(PagedStates, LeaveTheDeviceAsFarAsItIsFull) {
  TestContext test = OffloadedLlama7b();
  const char* layout = "tp1.pp1.dp8.zero1.rc=full";
  const MemoryEstimate whole = OffloadedOnRank(test, layout);
  test.training.optimizer = kPagedAdamW;
  const auto with_memory = [&](int64_t bytes) {
    test.cluster.device.memory_bytes = bytes;
    return OffloadedOnRank(test, layout);
  };
  const auto device_for = [](int64_t kept_bytes) {
    return static_cast<int64_t>(static_cast<double>(kept_bytes) / kPagingShare);
  };
  EXPECT_EQ(with_memory(device_for(whole.total_bytes() + 1024)), whole);
  const int64_t missing = int64_t{1} << 30;
  const MemoryEstimate paged = with_memory(device_for(whole.total_bytes() - missing));
  EXPECT_NEAR(static_cast<double>(paged.paged_bytes), static_cast<double>(missing), 2.0);
  EXPECT_EQ(paged.optimizer_bytes, whole.optimizer_bytes - paged.paged_bytes);
  EXPECT_EQ(paged.host_bytes, paged.paged_bytes);
  // Two moments of 4 bytes of twelve bytes of states.
  const MemoryEstimate least = with_memory(1024);
  EXPECT_NEAR(static_cast<double>(least.paged_bytes),
              static_cast<double>(whole.optimizer_bytes) * 8.0 / 12.0, 16.0);
}

TEST(PagedStates, MakeTheUpdateWaitForTheirCopies) {
  TestContext test = OffloadedLlama7b();
  const Layout layout = MakeLayout("tp1.pp1.dp8.zero1.rc=full");
  test.cluster.device.memory_bytes = int64_t{48} << 30;
  const Estimate whole = EstimateLayout(test.get(), layout);
  test.training.optimizer = kPagedAdamW;
  const Estimate paged = EstimateLayout(test.get(), layout);
  ASSERT_GT(paged.memory.paged_bytes, 0);
  EXPECT_EQ(paged.host_node_bytes, 8 * paged.memory.paged_bytes);
  EXPECT_NEAR(paged.time[TimePart::kOffload],
              2.0 * static_cast<double>(paged.memory.paged_bytes) / 50e9, 1e-9);
  EXPECT_EQ(paged.time[TimePart::kCompute], whole.time[TimePart::kCompute]);
}

// What leaves the device is on the host, and gathered weights stay.
TEST(OffloadedStates, MoveWeightsWithTheOptimizerAndGradientsWithTheWeights) {
  TestContext test = OffloadedLlama7b();
  const MemoryEstimate none = OffloadedOnRank(test, "tp1.pp1.dp8.zero3");
  const MemoryEstimate states = OffloadedOnRank(test, "tp1.pp1.dp8.zero3.offload=opt");
  const MemoryEstimate weights = OffloadedOnRank(test, "tp1.pp1.dp8.zero3.offload=opt+param");
  const MemoryEstimate all = OffloadedOnRank(test, "tp1.pp1.dp8.zero3.offload=opt+param+grad");
  EXPECT_EQ(weights.weights_bytes, 0);
  EXPECT_EQ(weights.gradients_bytes, none.gradients_bytes);
  EXPECT_EQ(weights.host_bytes, states.host_bytes + none.weights_bytes);
  EXPECT_EQ(all.gradients_bytes, 0);
  EXPECT_EQ(all.host_bytes, weights.host_bytes + none.gradients_bytes);
  EXPECT_EQ(all.workspace_bytes, none.workspace_bytes);
  // What a framework copies there comes on top, for each parameter that the rank owns.
  test.profile.states.host_copy_bytes = 6;
  const int64_t owned = Parameters(test.model) / 8;
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero3.offload=opt").host_bytes,
            states.host_bytes + 6 * owned);
}

// DeepSpeed's stage3_max_live_parameters and buckets.
TEST(GatheredWeights, AreAsManyAsTheFrameworkKeeps) {
  TestContext test = OffloadedLlama7b();
  const MemoryEstimate two_units = OffloadedOnRank(test, "tp1.pp1.dp8.zero3");
  test.profile.states.zero3_live_parameters = 1;
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero3"), two_units);
  test.profile.states.zero3_live_parameters = 1'000'000'000;
  const int64_t more = OffloadedOnRank(test, "tp1.pp1.dp8.zero3").workspace_bytes;
  test.profile.states.zero3_live_parameters = 1'100'000'000;
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero3").workspace_bytes, more + 200'000'000);
  // No more than the model has.
  test.profile.states.zero3_live_parameters = int64_t{1} << 40;
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero3").workspace_bytes,
            more + 2 * (Parameters(test.model) - 1'000'000'000));
  const int64_t zero2 = OffloadedOnRank(test, "tp1.pp1.dp8.zero2").workspace_bytes;
  test.profile.states.zero2_bucket_bytes = 2'000'000'000;
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero2").workspace_bytes, zero2 + 2'000'000'000);
}

TEST(OffloadedActivations, LeaveTheOtherLayersOnTheDevice) {
  const TestContext test = OffloadedLlama7b();
  const int64_t layer = LayerBytes(test);
  const MemoryEstimate whole = OffloadedOnRank(test, "tp1.pp1.dp8.zero1");
  EXPECT_EQ(whole.activations_bytes, 32 * layer);
  EXPECT_EQ(whole.host_bytes, 0);
  const MemoryEstimate moved = OffloadedOnRank(test, "tp1.pp1.dp8.zero1.offload=act:20");
  EXPECT_EQ(moved.activations_bytes, 12 * layer);
  EXPECT_EQ(moved.host_bytes, 20 * layer);
  EXPECT_EQ(whole.total_bytes() - moved.total_bytes(), moved.host_bytes);
}

TEST(OffloadedActivations, UnderFullRecomputeAreTheInputsOfLayers) {
  const TestContext test = OffloadedLlama7b();
  const int64_t input = kOffloadedTokens * 4096 * 2;
  const MemoryEstimate whole = OffloadedOnRank(test, "tp1.pp1.dp8.zero1.rc=full");
  EXPECT_EQ(whole.activations_bytes, 32 * input);
  const MemoryEstimate moved = OffloadedOnRank(test, "tp1.pp1.dp8.zero1.rc=full.offload=act:20");
  EXPECT_EQ(moved.activations_bytes, 12 * input);
  EXPECT_EQ(moved.host_bytes, 20 * input);
  EXPECT_EQ(moved.workspace_bytes, whole.workspace_bytes);
}

// The layer that computes and the one whose copy is under way stay.
TEST(OffloadedActivations, KeepTwoLayersOnTheDeviceWhereFewerStay) {
  const TestContext test = OffloadedLlama7b();
  const int64_t layer = LayerBytes(test);
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero1.offload=act:30").activations_bytes, 2 * layer);
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero1.offload=act:31").activations_bytes, 2 * layer);
  const MemoryEstimate all = OffloadedOnRank(test, "tp1.pp1.dp8.zero1.offload=act:32");
  EXPECT_EQ(all.activations_bytes, 2 * layer);
  EXPECT_EQ(all.host_bytes, 32 * layer);
}

// The first of four ranks has four micro-batches of its eight layers in flight. Of each of them the
// layers that are not moved stay, and one pass at a time needs its two layers.
TEST(OffloadedActivations, AreThoseOfEveryMicroBatchInFlight) {
  const TestContext test = OffloadedLlama7b();
  const int64_t layer = LayerBytes(test);
  const MemoryEstimate some = OffloadedOnRank(test, "tp1.pp4.dp2.offload=act:5");
  EXPECT_EQ(some.activations_bytes, int64_t{4} * 3 * layer);
  EXPECT_EQ(some.host_bytes, int64_t{4} * 5 * layer);
  const MemoryEstimate all = OffloadedOnRank(test, "tp1.pp4.dp2.offload=act:8");
  EXPECT_EQ(all.activations_bytes, 2 * layer);
  EXPECT_EQ(all.host_bytes, int64_t{4} * 8 * layer);
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp4.dp2.offload=act:8", 3).host_bytes, 8 * layer);
}

// Under interleaving each of a rank's two chunks of four layers moves its own. The first of four
// ranks warms up 4 micro-batches through both chunks and 3 more through the first.
TEST(OffloadedActivations, AreCountedByChunk) {
  const TestContext test = OffloadedLlama7b();
  const int64_t layer = LayerBytes(test);
  const MemoryEstimate moved = OffloadedOnRank(test, "tp1.pp4.dp2.vpp2.offload=act:1");
  EXPECT_EQ(moved.activations_bytes, int64_t{4 + 4 + 3} * 3 * layer);
  EXPECT_EQ(moved.host_bytes, (4 + 4 + 3) * layer);
}

// DeepSeek-V2-Lite: a dense layer in front of 26 with experts, which keep more.
TEST(OffloadedActivations, AreTheFirstLayersWhateverTheirKind) {
  const TestContext test = OffloadContext("deepseek-v2-lite", kOffloadedTokens, 64);
  ASSERT_EQ(test.model.groups.size(), 2u);
  const Layout layout = MakeLayout("tp1.pp1.dp8.ep8.zero1");
  const auto kept = [&](size_t group) {
    return KeptBytes(BlockOperators(LayerShape(test.get(), layout, test.model.groups[group])));
  };
  ASSERT_GT(kept(1), kept(0));
  const MemoryEstimate two = OffloadedOnRank(test, "tp1.pp1.dp8.ep8.zero1.offload=act:2");
  EXPECT_EQ(two.host_bytes, kept(0) + kept(1));
  EXPECT_EQ(two.activations_bytes, 25 * kept(1));
  // What is said of the experts' share is of what stays.
  const KeptShares whole = KeptSharesOnRank(test.get(), layout, 0);
  const KeptShares left =
      KeptSharesOnRank(test.get(), MakeLayout("tp1.pp1.dp8.ep8.zero1.offload=act:2"), 0);
  EXPECT_EQ(left.experts_bytes * 26, whole.experts_bytes * 25);
}

TEST(OffloadedOptimizer, TakesItsStatesToTheHost) {
  const TestContext test = OffloadedLlama7b();
  const int64_t parameters = Parameters(test.model);
  const MemoryEstimate whole = OffloadedOnRank(test, "tp1.pp1.dp8.zero0");
  const MemoryEstimate moved = OffloadedOnRank(test, "tp1.pp1.dp8.zero0.offload=opt");
  EXPECT_EQ(whole.optimizer_bytes, 12 * parameters);
  EXPECT_EQ(moved.optimizer_bytes, 0);
  EXPECT_EQ(moved.host_bytes, 12 * parameters);
  EXPECT_EQ(moved.weights_bytes, whole.weights_bytes);
  EXPECT_EQ(moved.gradients_bytes, whole.gradients_bytes);
  EXPECT_EQ(moved.total_bytes(), whole.total_bytes() - 12 * parameters);
  const int64_t shard = (parameters + 7) / 8;
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero1.offload=opt").host_bytes, 12 * shard);
  EXPECT_EQ(OffloadedOnRank(test, "tp1.pp1.dp8.zero1.offload=act:3+opt").host_bytes,
            12 * shard + 3 * LayerBytes(test));
}

// What a framework holds during its update is the host's too.
TEST(OffloadedOptimizer, NeedsNoCopiesOnTheDevice) {
  TestContext test = OffloadedLlama7b();
  test.profile.states.step_bytes_per_parameter = 100.0;
  const MemoryEstimate whole = OffloadedOnRank(test, "tp1.pp1.dp8.zero1");
  const MemoryEstimate moved = OffloadedOnRank(test, "tp1.pp1.dp8.zero1.offload=opt");
  EXPECT_EQ(whole.activations_bytes, 0);
  EXPECT_EQ(moved.activations_bytes, 32 * LayerBytes(test));
}

int64_t NodeBytes(const TestContext& test, const char* layout) {
  const Layout parsed = MakeLayout(layout);
  const EstimateContext context = test.get();
  return HostBytesOfNode(PlannedLayout(context, parsed));
}

// Eight devices a node, tensor-parallel ranks side by side and pipeline ranks farthest apart.
TEST(HostBytesOfNode, AddUpOverTheDevicesOfANode) {
  const TestContext test = OffloadedLlama7b();
  const auto on_rank = [&](const char* layout, int32_t rank) {
    return OffloadedOnRank(test, layout, rank).host_bytes;
  };
  EXPECT_EQ(NodeBytes(test, "tp1.pp4.dp8"), 0);
  const char* apart = "tp1.pp4.dp8.offload=act:4";
  EXPECT_EQ(NodeBytes(test, apart), 8 * on_rank(apart, 0));
  // Two devices of each of the four ranks on one node.
  const char* together = "tp1.pp4.dp2.offload=act:4";
  int64_t sum = 0;
  for (int32_t rank = 0; rank < 4; ++rank) sum += 2 * on_rank(together, rank);
  EXPECT_EQ(NodeBytes(test, together), sum);
  // Two nodes: the first two pipeline ranks, which have more in flight, and the others.
  const char* halves = "tp1.pp4.dp4.offload=act:4";
  EXPECT_EQ(NodeBytes(test, halves), 4 * (on_rank(halves, 0) + on_rank(halves, 1)));
}

}  // namespace
}  // namespace meshwright::planner
