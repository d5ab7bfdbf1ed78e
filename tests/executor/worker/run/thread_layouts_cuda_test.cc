// Every layout on one GPU, its ranks threads on streams of their own: losses, every gradient and
// their norm against the single-rank autograd reference on the CPU. Bytes are not looked at: the
// ranks share one allocator, which can't tell whose they are.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "tests/executor/cuda_test_device.h"
#include "tests/executor/worker/layout_run.h"

namespace meshwright::worker {
namespace {

class ThreadLayoutsCudaTest : public testing::TestWithParam<trial::LayoutCase> {
 protected:
  ThreadLayoutsCudaTest() : run_(GetParam()) {
    // Heads and sequences that all of a device's attention kernels take, also in a ring of eight.
    for (planner::LayerGroup& group : run_.plan().model.groups) group.attention.head_dim = 64;
    run_.plan().training.seq_len = 128;
  }

  void SetUp() override {
    if (trial::CudaDeviceCount() > 0) return;
    // CTest reports the file as skipped when it sees this line.
    std::cout << "[  SKIPPED ] the whole file: no CUDA device\n";
    GTEST_SKIP() << "no CUDA device";
  }

  void ExpectReferenceNumbers(planner::Precision precision, double gradient_tolerance,
                              double tolerance) {
    run_.plan().training.precision = precision;
    run_.Run({.open_device = [](ThreadHub* hub) { return trial::OpenCudaTestDevice(0, hub); },
              .rehearse = true});
    run_.ExpectReferenceNumbers(gradient_tolerance, tolerance);
    run_.ExpectPlannedInFlight();
  }

  LayoutRun run_;
};

TEST_P(ThreadLayoutsCudaTest, Fp32EqualsTheReference) {
  ExpectReferenceNumbers(planner::Precision::kFp32, 1e-3, 1e-4);
}

TEST_P(ThreadLayoutsCudaTest, Bf16IsNearTheReference) {
  ExpectReferenceNumbers(planner::Precision::kBf16, 0.1, 0.02);
}

std::vector<trial::LayoutCase> WithoutWindows(std::vector<trial::LayoutCase> cases) {
  std::erase_if(cases, [](const trial::LayoutCase& one) { return one.model.window > 0; });
  return cases;
}

std::string NameOf(const testing::TestParamInfo<trial::LayoutCase>& test) {
  return trial::CaseName(test.param);
}

// Of the kernels on a device, one in bf16 alone knows windows.
class WindowsCudaTest : public ThreadLayoutsCudaTest {};

TEST_P(WindowsCudaTest, Bf16IsNearTheReference) {
  ExpectReferenceNumbers(planner::Precision::kBf16, 0.1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Axes, ThreadLayoutsCudaTest, testing::ValuesIn(trial::AxisCases()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Pairs, ThreadLayoutsCudaTest, testing::ValuesIn(trial::PairCases()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Schedules, ThreadLayoutsCudaTest,
                         testing::ValuesIn(trial::ScheduleCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Recompute, ThreadLayoutsCudaTest,
                         testing::ValuesIn(trial::RecomputeCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Zero, ThreadLayoutsCudaTest, testing::ValuesIn(trial::ZeroCases()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Hsdp, ThreadLayoutsCudaTest, testing::ValuesIn(trial::HsdpCases()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(NamedStages, ThreadLayoutsCudaTest,
                         testing::ValuesIn(trial::NamedStageCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(AllAxes, ThreadLayoutsCudaTest, testing::ValuesIn(trial::AllAxesCases()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Offload, ThreadLayoutsCudaTest, testing::ValuesIn(trial::OffloadCases()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(HeadNorms, ThreadLayoutsCudaTest,
                         testing::ValuesIn(trial::HeadNormCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Latent, ThreadLayoutsCudaTest,
                         testing::ValuesIn(WithoutWindows(trial::LatentCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Modules, ThreadLayoutsCudaTest,
                         testing::ValuesIn(WithoutWindows(trial::DenseModuleCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Windows, WindowsCudaTest, testing::ValuesIn(trial::WindowCases()), NameOf);

}  // namespace
}  // namespace meshwright::worker
