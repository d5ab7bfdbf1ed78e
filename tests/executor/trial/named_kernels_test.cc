#include "executor/trial/named_kernels.h"

#include <gtest/gtest.h>

namespace meshwright::trial {
namespace {

planner::FrameworkProfile With(planner::AttentionKernel attention) {
  planner::FrameworkProfile profile;
  profile.engine = planner::Engine::kWorker;
  profile.supports.attention = attention;
  return profile;
}

TEST(NamedKernels, AreThoseThatTheEstimateChose) {
  const planner::FrameworkProfile cudnn = With(planner::AttentionKernel::kCudnn);
  EXPECT_EQ(WithNamedKernels({.tp = 2}, cudnn, planner::DeviceKind::kCuda),
            (planner::Layout{.tp = 2, .attention = planner::AttentionKernel::kCudnn}));
}

TEST(NamedKernels, OfALayoutThatNamesThemStay) {
  const planner::Layout layout = {.attention = planner::AttentionKernel::kFlash2};
  EXPECT_EQ(
      WithNamedKernels(layout, With(planner::AttentionKernel::kCudnn), planner::DeviceKind::kCuda),
      layout);
}

TEST(NamedKernels, AreLeftOutWhereTheWorkerRunsThemAnyway) {
  EXPECT_EQ(
      WithNamedKernels({}, With(planner::AttentionKernel::kFlash2), planner::DeviceKind::kCuda),
      planner::Layout());
}

TEST(NamedKernels, OfAnotherFrameworkAreNotTheWorkers) {
  planner::FrameworkProfile other = With(planner::AttentionKernel::kFlash1);
  other.engine = planner::Engine::kFramework;
  EXPECT_EQ(WithNamedKernels({}, other, planner::DeviceKind::kCuda), planner::Layout());
}

TEST(NamedKernels, AreNeverADevicesOnACpu) {
  EXPECT_EQ(WithNamedKernels({}, With(planner::AttentionKernel::kCudnn), planner::DeviceKind::kCpu),
            planner::Layout());
}

}  // namespace
}  // namespace meshwright::trial
