#include "planner/cost/offload_time.h"

#include <gtest/gtest.h>

#include "planner/block/parameters.h"
#include "planner/cost/optimizer_time.h"
#include "planner/cost/stage_time.h"
#include "planner/cost/step_time.h"
#include "tests/planner/offload_context.h"

namespace meshwright::planner {
namespace {

class OffloadTime : public testing::Test {
 protected:
  TimeEstimate Time(const char* layout) const {
    return EstimateStepTime(test_.get(), MakeLayout(layout), 0.0);
  }
  void SetLink(double bytes_per_s) { test_.cluster.host.link_bytes_per_s = bytes_per_s; }
  // At which a layer's copy takes as long as a layer's forward.
  double RateOfForward() const {
    const EstimateContext context = test_.get();
    const Layout layout = MakeLayout("tp1.pp1.dp8.zero1");
    const StepShape step(context, layout);
    return static_cast<double>(step.planned.block(0).kept_bytes) / EstimateLayer(step, 0).forward_s;
  }

  // 32 layers; 8 micro-batches under dp8.
  TestContext test_ = OffloadContext("llama-2-7b", 4096, 64);
};

TEST_F(OffloadTime, CopiesAtTheLinkOrAtTheShareOfTheHostsMemory) {
  const auto rate = [this](const char* text) {
    const EstimateContext context = test_.get();
    const Layout layout = MakeLayout(text);
    return HostCopyRate(StepShape(context, layout));
  };
  EXPECT_EQ(rate("tp1.pp1.dp8"), 50e9);
  test_.cluster.host.link_efficiency = 0.5;
  EXPECT_EQ(rate("tp1.pp1.dp8"), 25e9);
  test_.cluster.host.memory_bytes_per_s = 160e9;
  EXPECT_EQ(rate("tp1.pp1.dp8"), 10e9);
  // Two devices share the node's memory, and have it to themselves.
  EXPECT_EQ(rate("tp1.pp1.dp2"), 25e9);
  test_.cluster.host.memory_bytes_per_s = 0.0;
  EXPECT_EQ(rate("tp1.pp1.dp8"), 25e9);
}

// Each of a step's micro-batches brings the shard of each of 32 layers twice: before the forward
// and before the backward.
TEST_F(OffloadTime, OfWeightsIsWhatALayersShardTakesLongerThanTheLayer) {
  test_.cluster.host.memory_bytes_per_s = 800e12;  // the update takes no time
  const auto waits = [this](const char* layout) { return Time(layout)[TimePart::kOffload]; };
  SetLink(50e12);
  EXPECT_EQ(waits("tp1.pp1.dp8.zero3.offload=opt+param"), 0.0);
  SetLink(1e6);
  const EstimateContext context = test_.get();
  const Layout layout = MakeLayout("tp1.pp1.dp8.zero3.offload=opt+param");
  const StepShape step(context, layout);
  const LayerTime layer = EstimateLayer(step, 0);
  const double shard_s = static_cast<double>(step.planned.block(0).layer.all) / 8.0 * 2.0 / 1e6;
  const CopyTime weights = ExposedWeightCopies(step, step.planned.block(0), layer);
  EXPECT_DOUBLE_EQ(weights.forward_s,
                   shard_s - layer.forward_s - layer.tp_forward_s - layer.cp_forward_s);
  const double with_gradients = waits("tp1.pp1.dp8.zero3.offload=opt+param+grad");
  EXPECT_GT(with_gradients, waits("tp1.pp1.dp8.zero3.offload=opt+param"));
}

TEST_F(OffloadTime, HidesCopiesBehindCompute) {
  test_.cluster.host.memory_bytes_per_s = 0.0;
  SetLink(1.01 * RateOfForward());
  EXPECT_EQ(Time("tp1.pp1.dp8.zero1.offload=act:20"), Time("tp1.pp1.dp8.zero1"));
}

// Slower than the forward by half of it, and still within the backward, which takes longer.
TEST_F(OffloadTime, ShowsWhatACopyTakesLongerThanALayer) {
  test_.cluster.host.memory_bytes_per_s = 0.0;
  SetLink(RateOfForward() / 1.5);
  const EstimateContext context = test_.get();
  const Layout layout = MakeLayout("tp1.pp1.dp8.zero1");
  const double forward_s = EstimateLayer(StepShape(context, layout), 0).forward_s;
  const double exposed_s = Time("tp1.pp1.dp8.zero1.offload=act:20")[TimePart::kOffload];
  EXPECT_NEAR(exposed_s, 8.0 * 20.0 * 0.5 * forward_s, 1e-9);
  // Once slower than the backward too, both directions show.
  SetLink(RateOfForward() / 4.0);
  const LayerTime layer = EstimateLayer(StepShape(context, layout), 0);
  const double both_s = 2.0 * 4.0 * forward_s - layer.forward_s - layer.backward_s();
  EXPECT_NEAR(Time("tp1.pp1.dp8.zero1.offload=act:20")[TimePart::kOffload], 160.0 * both_s, 1e-9);
}

TEST_F(OffloadTime, GrowsWithLayersAndWithSlowerLinks) {
  double before_s = 0.0;
  for (const double bytes_per_s : {50e9, 20e9, 10e9, 5e9}) {
    SetLink(bytes_per_s);
    const double step_s = Time("tp1.pp2.dp4.offload=act:8").step_s();
    EXPECT_GE(step_s, before_s);
    EXPECT_GT(Time("tp1.pp2.dp4.offload=act:16").step_s(), step_s);
    before_s = step_s;
  }
}

// The slow stage's wait is in the pipeline's bubble as well.
TEST_F(OffloadTime, IsPartOfAStagesPasses) {
  SetLink(5e9);
  const EstimateContext context = test_.get();
  const Layout layout = MakeLayout("tp1.pp2.dp4.offload=act:8");
  const StageTime time = StageTimes(StepShape(context, layout)).OfStage(0);
  EXPECT_GT(time.parts[TimePart::kOffload], 0.0);
  EXPECT_NEAR(time.durations.total_s(), time.total_s(), 1e-9);
  EXPECT_GT(Time("tp1.pp2.dp4.offload=act:8")[TimePart::kBubble],
            Time("tp1.pp2.dp4")[TimePart::kBubble]);
}

// Gradients of 4 bytes go down and weights of 2 come back at 50 GB/s, beside an update that moves
// 30 bytes a parameter at an eighth of the host's 800 GB/s.
TEST_F(OffloadTime, UpdatesAtTheRateOfTheHostsMemory) {
  const double owned = static_cast<double>(Parameters(test_.model)) / 8.0;
  const TimeEstimate time = Time("tp1.pp1.dp8.zero1.offload=opt");
  EXPECT_NEAR(time[TimePart::kOptimizer], 30.0 * owned / 100e9, 1e-9);
  EXPECT_EQ(time[TimePart::kOffload], 0.0);
  SetLink(5e9);
  EXPECT_NEAR(Time("tp1.pp1.dp8.zero1.offload=opt")[TimePart::kOffload],
              4.0 * owned / 5e9 - 30.0 * owned / 100e9, 1e-9);
  const EstimateContext context = test_.get();
  const Layout layout = MakeLayout("tp1.pp1.dp8.zero1.offload=opt");
  EXPECT_NEAR(LongestHostUpdate(StepShape(context, layout)).copied_bytes, 6.0 * owned, 1.0);
}

// CPU-Adam on two Xeon 8168 with 6 channels of DDR4-2666 each: 10 billion parameters in 2.57 s
// (ZeRO-Offload, arXiv 2101.06840, Table 4).
TEST(HostUpdate, ReachesWhatCpuAdamDoes) {
  TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  test.cluster.host = {.link_bytes_per_s = 16e9,
                       .memory_bytes = int64_t{1536} << 30,
                       .memory_bytes_per_s = 256e9,
                       .source = ""};
  const EstimateContext context = test.get();
  const Layout layout = MakeLayout("tp1.pp1.dp1.offload=opt");
  EXPECT_NEAR(HostUpdateTime(StepShape(context, layout), 10e9).update_s, 2.57, 0.05);
}

}  // namespace
}  // namespace meshwright::planner
