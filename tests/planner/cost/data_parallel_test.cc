#include "planner/cost/data_parallel.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kParameters = 1'000'000'000;
constexpr double kRingBytesPerS = 300e9;  // inside a node
constexpr int64_t kMicroBatches = 4;

class DataParallel : public testing::Test {
 protected:
  // Bytes that one rank sends in a step, from the time that it takes at link speed; eight ranks.
  double Bytes(const char* text, double window_s = 0.0) const {
    const Layout layout = MakeLayout(text);
    const EstimateContext context = test_.get();
    return ExposedDataParallelTime(StepShape(context, layout), {.all = kParameters}, kMicroBatches,
                                   window_s) *
           kRingBytesPerS;
  }

  TestContext test_ = PlainContext("llama-2-7b", 4096, 64);
  const double share_ = kParameters * 7.0 / 8.0;
};

// Per step an all-reduce of the fp32 gradients: 2 g P (D - 1) / D.
TEST_F(DataParallel, WithoutZeroAllReducesGradients) {
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero0"), 2.0 * 4.0 * share_, 1.0);
}

// Per step a reduce-scatter of g P and an all-gather of 2 P.
TEST_F(DataParallel, ZeroOneScattersGradientsAndGathersWeights) {
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero1"), (4.0 + 2.0) * share_, 1.0);
}

TEST_F(DataParallel, ZeroOneOfSomeFrameworksReducesWholeGradients) {
  test_.profile.communication.zero1_all_reduce = true;
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero1"), (2.0 * 4.0 + 2.0) * share_, 1.0);
}

// HSDP: gathers and scatters among the four that divide states, then the two holders of each
// quarter add it up, once a step.
TEST_F(DataParallel, HsdpAddsUpShardsOutsideTheGroups) {
  const double inside = kParameters * 3.0 / 4.0;
  const double outside = 2.0 * (4.0 * kParameters / 4.0) * 1.0 / 2.0;
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero1.hs=4"), (4.0 + 2.0) * inside + outside, 1.0);
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero2.hs=4"), (kMicroBatches * 4.0 + 2.0) * inside + outside, 1.0);
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero3.hs=4"), kMicroBatches * (4.0 + 2.0 * 2.0) * inside + outside,
              1.0);
  for (const char* zero : {".zero1", ".zero2", ".zero3"}) {
    const std::string layout = std::string("tp1.pp1.dp8") + zero;
    EXPECT_EQ(Bytes((layout + ".hs=8").c_str()), Bytes(layout.c_str()));
  }
}

// A reduce-scatter for every micro-batch, one gather a step.
TEST_F(DataParallel, ZeroTwoScattersEveryMicroBatch) {
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero2"), (4.0 * 4.0 + 2.0) * share_, 1.0);
}

// Four micro-batches pass two interleaved ranks in two groups, and no group of another schedule.
TEST_F(DataParallel, ZeroTwoOfSomeFrameworksScattersEveryGroupOfInterleaving) {
  test_.profile.communication.reduces_interleaved_groups = true;
  const double share = kParameters * 3.0 / 4.0;
  EXPECT_NEAR(Bytes("tp1.pp2.dp4.vpp2.zero2.sched=interleaved"), (2.0 * 4.0 + 2.0) * share, 1.0);
  EXPECT_NEAR(Bytes("tp1.pp2.dp4.zero2"), (4.0 * 4.0 + 2.0) * share, 1.0);
}

// For every micro-batch two gathers of 2 P and a reduce-scatter of g P.
TEST_F(DataParallel, ZeroThreeGathersTwiceForEveryMicroBatch) {
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero3"), 4.0 * (2.0 * 2.0 + 4.0) * share_, 1.0);
}

// Unit by unit: the 8 layers of a rank and an end of the model, each with a latency of its own in
// two gathers and a reduce-scatter of every micro-batch; ZeRO-1 pays two in all.
TEST_F(DataParallel, ZeroThreePaysTheLatencyOfEveryUnit) {
  const double without_s = Bytes("tp1.pp4.dp8.zero3") / kRingBytesPerS;
  const double one_without_s = Bytes("tp1.pp4.dp8.zero1") / kRingBytesPerS;
  test_.cluster.scale_up.base_latency_s = 1e-5;
  EXPECT_NEAR(Bytes("tp1.pp4.dp8.zero3") / kRingBytesPerS - without_s, 4.0 * 3.0 * 9.0 * 1e-5,
              1e-9);
  EXPECT_NEAR(Bytes("tp1.pp4.dp8.zero1") / kRingBytesPerS - one_without_s, 2.0 * 1e-5, 1e-9);
}

// Gradients of 8 layers a rank go in so many collectives as the framework makes of a layer: ZeRO-0
// all-reduces them, ZeRO-1 scatters and gathers.
TEST_F(DataParallel, EveryBucketOfALayerPaysALatency) {
  const auto seconds = [this](const char* layout) { return Bytes(layout) / kRingBytesPerS; };
  const double zero0_s = seconds("tp1.pp4.dp8.zero0");
  const double zero1_s = seconds("tp1.pp4.dp8.zero1");
  test_.profile.communication.all_reduces_per_layer = 6.0;
  test_.profile.communication.shard_collectives_per_layer = 0.5;
  EXPECT_NEAR(seconds("tp1.pp4.dp8.zero0"), zero0_s, 1e-9);
  test_.cluster.scale_up.base_latency_s = 1e-5;
  EXPECT_NEAR(seconds("tp1.pp4.dp8.zero0") - zero0_s, 6.0 * 8.0 * 1e-5, 1e-9);
  EXPECT_NEAR(seconds("tp1.pp4.dp8.zero1") - zero1_s, 2.0 * 0.5 * 8.0 * 1e-5, 1e-9);
}

TEST_F(DataParallel, ContextRanksCountAsDataRanks) {
  EXPECT_NEAR(Bytes("tp1.cp2.pp1.dp4.zero1"), Bytes("tp1.pp1.dp8.zero1"), 1.0);
}

// In Megatron-LM's other order the two pipeline ranks stand between neighbours in data.
TEST_F(DataParallel, TheOrderOfTheProfileSpreadsReplicas) {
  const Layout layout = MakeLayout("tp1.pp2.dp8");
  EXPECT_EQ(StepShape(test_.get(), layout).dp_group, RankGroup(8, 1));
  EXPECT_EQ(StepShape(test_.get(), layout).pipeline_group, RankGroup(2, 8));
  test_.profile.communication.mesh_order = ParseMeshOrder("tp-cp-pp-dp").value();
  EXPECT_EQ(StepShape(test_.get(), layout).dp_group, RankGroup(8, 2));
  EXPECT_EQ(StepShape(test_.get(), layout).pipeline_group, RankGroup(2, 1));
}

TEST_F(DataParallel, OneRankSendsNothing) { EXPECT_EQ(Bytes("tp8.pp1.dp1"), 0.0); }

TEST_F(DataParallel, GradientsAreAsWideAsTheFrameworkReducesThem) {
  test_.profile.communication.reduce_bytes = 2.0;
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero0"), 2.0 * 2.0 * share_, 1.0);
  test_.training.precision = Precision::kFp32;
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero0"), 2.0 * 4.0 * share_, 1.0);
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero1"), (4.0 + 4.0) * share_, 1.0);
  test_.training.precision = Precision::kFp64;
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero0"), 2.0 * 8.0 * share_, 1.0);
}

// The profile's share hides where the window is long enough, the window's length where not; ZeRO 2
// and 3 have a window in every micro-batch.
TEST_F(DataParallel, OverlapHidesNoMoreThanTheWindow) {
  test_.profile.communication.data_parallel_overlap = 0.75;
  const double all = 2.0 * 4.0 * share_;
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero0", 1e9), 0.25 * all, 1.0);
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero0", 1e-3), all - 1e-3 * kRingBytesPerS, 1.0);
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero3", 1e-3),
              4.0 * (2.0 * 2.0 + 4.0) * share_ - 4e-3 * kRingBytesPerS, 1.0);
}

// Only ZeRO-0's all-reduces start while the last backward runs.
TEST_F(DataParallel, AllReducesMayOverlapByMoreThanSharedReductions) {
  test_.profile.communication.all_reduce_overlap = 0.5;
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero0", 1e9), 0.5 * 2.0 * 4.0 * share_, 1.0);
  EXPECT_NEAR(Bytes("tp1.pp1.dp8.zero1", 1e9), (2.0 + 4.0) * share_, 1.0);
}

// V h / t gradients, added up between the two ends: two ranks send half of the buffer twice.
TEST(TiedEmbeddings, AreReducedBetweenTheEndsOfThePipeline) {
  TestContext test = PlainContext("llama-3.2-1b", 4096, 64);
  const auto seconds = [&test](const char* text) {
    const Layout layout = MakeLayout(text);
    const EstimateContext context = test.get();
    return TiedEmbeddingTime(StepShape(context, layout));
  };
  EXPECT_DOUBLE_EQ(seconds("tp2.pp2.dp1"), 4.0 * 128256.0 * 2048.0 / 2.0 / kRingBytesPerS);
  // The ends of a pipeline whose stages are a node each.
  EXPECT_DOUBLE_EQ(seconds("tp2.pp2.dp4"), 4.0 * 128256.0 * 2048.0 / 2.0 / 25e9);
  // Neighbours share a node, but not the first and the last of eight stages.
  EXPECT_DOUBLE_EQ(seconds("tp2.pp8.dp1"), 4.0 * 128256.0 * 2048.0 / 2.0 / 25e9);
  EXPECT_EQ(seconds("tp2.pp1.dp1"), 0.0);
  test.model.tied_embeddings = false;
  EXPECT_EQ(seconds("tp2.pp2.dp1"), 0.0);
}

// 8 bytes for each expert of each of a rank's layers, added up by all holders of the same layers;
// those of a TP group route different tokens where they share the sequence out.
TEST(SelectionBiases, CountWhatAllRanksOfTheirLayersPicked) {
  TestContext test = PlainContext("tinystories-15m", 256, 64);
  Experts& experts = test.model.groups.front().ffn.experts;
  experts = {.count = 8, .top_k = 4, .selection_bias = true};
  test.training.routing = Routing::kLearned;
  const auto seconds = [&test](const char* text) {
    const Layout layout = MakeLayout(text);
    const EstimateContext context = test.get();
    return SelectionBiasTime(StepShape(context, layout));
  };
  const double one = 8.0 * 8.0 * static_cast<double>(test.model.layers());
  EXPECT_DOUBLE_EQ(seconds("tp1.pp1.dp8"), 2.0 * one * 7.0 / 8.0 / kRingBytesPerS);
  EXPECT_DOUBLE_EQ(seconds("tp1.pp2.dp4"), one * 3.0 / 4.0 / kRingBytesPerS);
  EXPECT_DOUBLE_EQ(seconds("tp2.pp1.dp4.sp1"),
                   2.0 * one * (3.0 / 4.0 + 1.0 / 2.0) / kRingBytesPerS);
  EXPECT_EQ(seconds("tp1.pp1.dp1"), 0.0);
  test.training.routing = Routing::kBalanced;
  EXPECT_EQ(seconds("tp1.pp1.dp8"), 0.0);
  test.training.routing = Routing::kLearned;
  experts.bias_update_rate = 0.0;
  EXPECT_EQ(seconds("tp1.pp1.dp8"), 0.0);
}

}  // namespace
}  // namespace meshwright::planner
