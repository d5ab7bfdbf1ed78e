// Layouts over NCCL, one device per rank, against the single-process autograd reference on the CPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>

#include "tests/executor/trial/gradient_comparison.h"
#include "tests/executor/trial/trial_fixture.h"

namespace meshwright {
namespace {

// Devices that the driver shows, without loading CUDA into this process.
int DeviceCount() {
  int count = 0;
  while (std::filesystem::exists("/dev/nvidia" + std::to_string(count))) ++count;
  return count;
}

struct Case {
  std::string name = "";
  Layout layout;
  bool qk_norm = false;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

class LayoutsCudaTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const int devices = DeviceCount();
    if (devices == 0) {
      // CTest reports the file as skipped when it sees this line.
      std::cout << "[  SKIPPED ] the whole file: no CUDA device\n";
      GTEST_SKIP() << "no CUDA device";
    }
    if (GetParam().layout.devices() > devices) {
      GTEST_SKIP() << "needs " << GetParam().layout.devices() << " CUDA devices, here are "
                   << devices;
    }
  }
};

TEST_P(LayoutsCudaTest, LossesAndEveryGradientEqualTheReference) {
  const TemporaryFolder folder;
  TrialPlan plan = TinyPlan(GetParam().layout, 3);
  plan.model.qk_norm = GetParam().qk_norm;
  plan.device = DeviceKind::kCuda;
  plan.dump_gradients_dir = folder.path();
  const TrialResult result = RunHere(plan);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  ReferenceModel reference(plan.model, plan.training, plan.seed);
  reference.Loss(0);
  ExpectSameGradients(reference, folder.path(), plan.layout, 1e-3);
  const std::vector<ReferenceStep> expected =
      ReferenceModel(plan.model, plan.training, plan.seed).Train(plan.steps);
  ASSERT_EQ(result.losses.size(), expected.size());
  ASSERT_EQ(result.gradient_norms.size(), expected.size());
  for (size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(result.losses[step], expected[step].loss, 1e-4) << "step " << step;
    EXPECT_NEAR(result.gradient_norms[step] / expected[step].gradient_norm, 1.0, 1e-3)
        << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Nccl, LayoutsCudaTest,
    testing::Values(Case{.name = "OneRank", .layout = {.micro_batch = 2}},
                    Case{.name = "OneRankQkNorm", .layout = {}, .qk_norm = true},
                    Case{.name = "Tp2", .layout = {.tp = 2}},
                    Case{.name = "Tp2QkNorm", .layout = {.tp = 2}, .qk_norm = true},
                    Case{.name = "Pp2", .layout = {.pp = 2}},
                    Case{.name = "Dp2", .layout = {.dp = 2}},
                    Case{.name = "Tp2Pp2", .layout = {.tp = 2, .pp = 2}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace meshwright
