#include "executor/trial/named_kernels.h"

#include <gtest/gtest.h>

namespace meshwright {
namespace {

FrameworkProfile With(AttentionKernel attention) {
  FrameworkProfile profile;
  profile.worker_allocations = true;
  profile.attention = attention;
  return profile;
}

TEST(NamedKernels, AreThoseThatTheEstimateChose) {
  const FrameworkProfile cudnn = With(AttentionKernel::kCudnn);
  EXPECT_EQ(WithNamedKernels({.tp = 2}, cudnn, DeviceKind::kCuda),
            (Layout{.tp = 2, .attention = AttentionKernel::kCudnn}));
}

TEST(NamedKernels, OfALayoutThatNamesThemStay) {
  const Layout layout = {.attention = AttentionKernel::kFlash2};
  EXPECT_EQ(WithNamedKernels(layout, With(AttentionKernel::kCudnn), DeviceKind::kCuda), layout);
}

TEST(NamedKernels, AreLeftOutWhereTheWorkerRunsThemAnyway) {
  EXPECT_EQ(WithNamedKernels({}, With(AttentionKernel::kFlash2), DeviceKind::kCuda), Layout());
}

TEST(NamedKernels, OfAnotherFrameworkAreNotTheWorkers) {
  FrameworkProfile other = With(AttentionKernel::kFlash1);
  other.worker_allocations = false;
  EXPECT_EQ(WithNamedKernels({}, other, DeviceKind::kCuda), Layout());
}

TEST(NamedKernels, AreNeverADevicesOnACpu) {
  EXPECT_EQ(WithNamedKernels({}, With(AttentionKernel::kCudnn), DeviceKind::kCpu), Layout());
}

}  // namespace
}  // namespace meshwright
