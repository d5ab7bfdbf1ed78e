#include "planner/schedule/intensity.h"

#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

constexpr double kIntensityHidden = 8192.0;
constexpr double kIntensityLayer = 12.0 * kIntensityHidden * kIntensityHidden;

TEST(Intensity, OfALayerOf12HiddenSquared) {
  EXPECT_DOUBLE_EQ(PipelineIntensity(kIntensityLayer, kIntensityHidden, 1.0),
                   18.0 * kIntensityHidden);
  EXPECT_DOUBLE_EQ(PipelineIntensity(kIntensityLayer, kIntensityHidden, 10.0),
                   180.0 * kIntensityHidden);
  EXPECT_DOUBLE_EQ(TensorParallelIntensity(kIntensityLayer, kIntensityHidden, 8.0),
                   4.5 * kIntensityHidden / 7.0);
}

TEST(Intensity, LayeredOrderMultipliesByTheMicroBatches) {
  const IntensityInput input = {.tokens = 2048.0, .micro_batches = 8.0};
  EXPECT_DOUBLE_EQ(DataParallelIntensity(input, /*layered=*/false), 4.0 * 2048.0 / 8.0);
  EXPECT_DOUBLE_EQ(DataParallelIntensity(input, /*layered=*/true), 8.0 * 4.0 * 2048.0 / 8.0);
  EXPECT_DOUBLE_EQ(ShardedIntensity(input, /*layered=*/false), 6.0 * 2048.0 / 8.0);
  EXPECT_DOUBLE_EQ(ShardedIntensity(input, /*layered=*/true), 8.0 * 6.0 * 2048.0 / 8.0);
}

// An A100 at 312 TFLOP/s with 200 Gbit/s needs 12,480 FLOP per byte: one micro-batch of 4,096
// tokens cannot hide its reduction, eight of them layer by layer can.
TEST(Intensity, LayeredOrderHidesWhatStandardOrderCannot) {
  constexpr double kA100 = 312e12 / 25e9;
  EXPECT_NEAR(kA100, 12.5e3, 50.0);
  IntensityInput input = {.tokens = 4096.0, .micro_batches = 8.0, .gradient_bytes = 2.0};
  EXPECT_LT(DataParallelIntensity(input, /*layered=*/false), kA100);
  EXPECT_GT(DataParallelIntensity(input, /*layered=*/true), kA100);
  input.recompute = true;
  EXPECT_DOUBLE_EQ(DataParallelIntensity(input, /*layered=*/false), 6.0 * 4096.0 / 4.0);
  EXPECT_DOUBLE_EQ(ShardedIntensity(input, /*layered=*/false), 8.0 * 4096.0 / 6.0);
}

}  // namespace
}  // namespace meshwright::planner
