#include "planner/cost/operators.h"

#include <gtest/gtest.h>

#include "planner/catalog/catalog.h"

namespace meshwright {
namespace {

class A100Operators : public testing::Test {
 protected:
  HardwareProfile a100_ = FindCluster("a100-80", 1).value().device;
  DeviceShare device_{a100_};
};

// 108 SMs, tiles of 128 x 256: 12 x 9 tiles fill one wave; one more tile costs a second.
TEST_F(A100Operators, MatmulEfficiencyFallsWithAPartlyFilledWave) {
  const double full = MatmulEfficiency(a100_, 12 * 128, 9 * 256, 8192);
  const double spilled = MatmulEfficiency(a100_, 13 * 128, 9 * 256, 8192);
  EXPECT_DOUBLE_EQ(full, 0.81 * 8192.0 / (8192 + 256));
  EXPECT_NEAR(spilled, full * 13.0 / 24.0, 1e-12);
}

TEST_F(A100Operators, LargeMatmulRunsNearItsEfficiency) {
  const double flops = 2.0 * 8192 * 8192 * 8192;
  const double reached = flops / MatmulTime(device_, 8192, 8192, 8192);
  EXPECT_GT(reached, 0.70 * 312e12);
  EXPECT_LT(reached, 0.81 * 312e12);
}

TEST_F(A100Operators, ThinMatmulTakesAtLeastItsTraffic) {
  const double bytes = 2.0 * (1.0 * 8192 + 8192.0 * 8192 + 8192);
  EXPECT_GE(MatmulTime(device_, 1, 8192, 8192), bytes / (2.039e12 * 0.85));
}

TEST_F(A100Operators, NothingIsFasterThanALaunch) {
  EXPECT_GE(MatmulTime(device_, 1, 1, 1), a100_.kernel_launch_s);
  EXPECT_DOUBLE_EQ(MemoryBoundTime(device_, 1.0), a100_.kernel_launch_s);
}

TEST_F(A100Operators, AShareOfTheDeviceIsSlowerByThatMuch) {
  const DeviceShare half{a100_, Precision::kBf16, 0.5};
  EXPECT_DOUBLE_EQ(MatmulTime(half, 8192, 8192, 8192), 2.0 * MatmulTime(device_, 8192, 8192, 8192));
  EXPECT_DOUBLE_EQ(MemoryBoundTime(half, 1e9), 2.0 * MemoryBoundTime(device_, 1e9));
}

// FlashAttention-2's published forward and backward rates on an A100, causal, head dimension 128,
// in TFLOP/s by sequence length; 4 s^2 a d FLOPs, half of them under the causal mask, times 3.5.
TEST_F(A100Operators, AttentionRunsAtThePublishedRates) {
  const std::pair<int64_t, double> published[] = {{512, 99},   {1024, 133}, {2048, 155},
                                                  {4096, 173}, {8192, 182}, {16384, 189}};
  for (const auto& [seq_len, tflops] : published) {
    const int64_t tokens = 16384;
    const double width = 2048.0;
    const double flops = 3.5 * 2.0 * static_cast<double>(tokens * seq_len) * width;
    const double seconds =
        (1.0 + kAttentionBackwardRatio) * AttentionForwardTime(device_, tokens, seq_len, 2048);
    EXPECT_NEAR(flops / seconds / 1e12, tflops, 0.05 * tflops) << seq_len;
  }
}

}  // namespace
}  // namespace meshwright
