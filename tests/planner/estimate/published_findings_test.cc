// What publications found about layouts, in their own figures: the presets must find it too.
#include <gtest/gtest.h>

#include "planner/estimate/estimate.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

// Fernandez et al. (arXiv 2411.13055): Llama 2 7B with FSDP, two sequences of 4,096 a device, loses
// 37 % of its throughput from 128 to 2,048 H100s, and there tensor parallel of 2 to 4 beats it.
TEST(PublishedFindings, FsdpLosesThroughputAtScaleAndTensorParallelWinsItBack) {
  const auto tokens_per_s_per_device = [](int64_t devices, const char* layout) {
    const TestContext context =
        MakeContext("llama-2-7b", "h100", 4096, 2 * devices, "torchtitan-fsdp");
    return EstimateLayout(context.get(), MakeLayout(layout)).tokens_per_s_per_gpu;
  };
  const double small = tokens_per_s_per_device(128, "tp1.pp1.dp128.mb2.zero3");
  const double large = tokens_per_s_per_device(2048, "tp1.pp1.dp2048.mb2.zero3");
  EXPECT_LT(large, 0.75 * small);
  EXPECT_GT(large, 0.5 * small);
  EXPECT_GT(tokens_per_s_per_device(2048, "tp2.pp1.dp1024.mb4.zero3.sp1"), large);
  EXPECT_GT(tokens_per_s_per_device(2048, "tp4.pp1.dp512.mb8.zero3.sp1"), large);
}

// Llama 3 405B (arXiv 2407.21783, section 3.3.2 and Table 4): what ran, and how fast.
class Llama3At16M : public testing::Test {
 protected:
  Estimate Of(int64_t seq_len, const char* layout) const {
    const TestContext context =
        MakeContext("llama-3-405b", "h100", seq_len, (16 << 20) / seq_len, "llama3");
    const Layout parsed = MakeLayout(layout);
    EXPECT_FALSE(CheckLayout(context.get(), parsed.devices(), parsed)) << layout;
    return EstimateLayout(context.get(), parsed);
  }
};

TEST_F(Llama3At16M, ItsLayoutsFitAndReachAboutWhatTheyDid) {
  const struct {
    int64_t seq_len;
    const char* layout;
    double mfu;
  } runs[] = {{8192, "tp8.cp1.pp16.dp64.mb1.vpp8.zero2.sp1", 0.43},
              {8192, "tp8.cp1.pp16.dp128.mb1.vpp8.zero2.sp1", 0.41},
              {131072, "tp8.cp16.pp16.dp8.mb1.vpp8.zero2.sp1", 0.38}};
  for (const auto& run : runs) {
    const Estimate estimate = Of(run.seq_len, run.layout);
    EXPECT_LT(estimate.oom_probability, 0.5) << run.layout;
    EXPECT_NEAR(estimate.mfu_causal, run.mfu, 0.15 * run.mfu) << run.layout;
  }
}

TEST_F(Llama3At16M, ContextParallelDoesNotPayAt8k) {
  const double without = Of(8192, "tp8.cp1.pp16.dp128.mb1.vpp8.zero2.sp1").mfu;
  EXPECT_GT(without, Of(8192, "tp8.cp2.pp16.dp64.mb1.vpp8.zero2.sp1").mfu);
  EXPECT_GT(without, 1.1 * Of(8192, "tp8.cp4.pp16.dp32.mb1.vpp8.zero2.sp1").mfu);
}

// The first chunk holds the embedding alone, and the last one the head.
TEST_F(Llama3At16M, ItsEndsHoldOneLayerLess) {
  EXPECT_EQ(Of(8192, "tp8.cp1.pp16.dp128.mb1.vpp8.zero2.sp1").memory,
            Of(8192, "tp8.cp1.pp16.dp128.mb1.vpp8.zero2.sp1.stages=0+126x1+0").memory);
}

}  // namespace
}  // namespace meshwright::planner
