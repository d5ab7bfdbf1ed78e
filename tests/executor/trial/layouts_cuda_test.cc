// Layouts over NCCL, one device per rank, against the single-process autograd reference on the CPU.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "tests/executor/cuda_test_device.h"
#include "tests/executor/layout_cases.h"
#include "tests/executor/trial/gradient_comparison.h"
#include "tests/executor/trial/trial_fixture.h"

namespace meshwright::trial {
namespace {

struct Case {
  LayoutCase layout;
  planner::Precision precision = planner::Precision::kFp32;

  bool bf16() const { return precision == planner::Precision::kBf16; }
  double gradient_tolerance() const { return bf16() ? 0.1 : 1e-3; }
  double loss_tolerance() const { return bf16() ? 0.02 : 1e-4; }
};

void PrintTo(const Case& test_case, std::ostream* out) {
  *out << planner::PrecisionName(test_case.precision) << " " << test_case.layout.layout;
}

class LayoutsCudaTest : public testing::TestWithParam<Case> {
 protected:
  LayoutsCudaTest() : plan_(PlanOf(GetParam().layout, 3)) {
    plan_.device = planner::DeviceKind::kCuda;
    plan_.training.precision = GetParam().precision;
    // Heads and sequences that cuDNN's attention takes.
    plan_.model.groups.front().attention.head_dim = 64;
    plan_.training.seq_len = 128;
  }

  void SetUp() override {
    const int32_t devices = CudaDeviceCount();
    if (devices == 0) {
      // CTest reports the file as skipped when it sees this line.
      std::cout << "[  SKIPPED ] the whole file: no CUDA device\n";
      GTEST_SKIP() << "no CUDA device";
    }
    if (plan_.layout.devices() > devices) {
      GTEST_SKIP() << "needs " << plan_.layout.devices() << " CUDA devices, here are " << devices;
    }
  }

  TrialPlan plan_;
};

TEST_P(LayoutsCudaTest, LossesAndEveryGradientEqualTheReference) {
  const TemporaryFolder folder;
  const TrialResult result = RunWith({.gradients_folder = folder.path()}, plan_);
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  const worker::ReferenceRun& reference =
      worker::ReferenceRunOf(plan_.model, plan_.training, plan_.seed, plan_.steps);
  ExpectSameGradients(reference, folder.path(), plan_.layout, GetParam().gradient_tolerance());
  const std::vector<worker::ReferenceStep>& expected = reference.steps;
  ASSERT_EQ(result.losses.size(), expected.size());
  ASSERT_EQ(result.gradient_norms.size(), expected.size());
  for (size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(result.losses[step], expected[step].loss, GetParam().loss_tolerance())
        << "step " << step;
    EXPECT_NEAR(result.gradient_norms[step] / expected[step].gradient_norm, 1.0,
                GetParam().gradient_tolerance())
        << "step " << step;
  }
}

constexpr ModelVariant kMultiHead = {.kv_heads = 4};
constexpr ModelVariant kQkNorm = {.qk_norm = true};
constexpr ModelVariant kTied = {.tied = true};

std::vector<Case> OneDeviceCases() {
  std::vector<Case> cases;
  for (const planner::Precision precision :
       {planner::Precision::kFp32, planner::Precision::kBf16}) {
    cases.insert(cases.end(), {{{"tp1.pp1.dp1.mb2"}, precision},
                               {{"tp1.pp1.dp1.mb2", kMultiHead}, precision},
                               {{"tp1.pp1.dp1", kQkNorm}, precision},
                               {{"tp1.pp1.dp1", kTied}, precision},
                               {{"tp1.pp1.dp1.rc=selective"}, precision},
                               {{"tp1.pp1.dp1.rc=full"}, precision},
                               {{"tp1.pp1.dp1.sched=zb_h1"}, precision},
                               {{"tp1.pp1.dp1.vpp2.sched=zb_v"}, precision},
                               {{"tp1.pp1.dp1.vpp2.sched=breadth_first"}, precision}});
  }
  cases.insert(cases.end(),
               {{{"tp1.pp1.dp1.mb2.attn=cudnn"}, planner::Precision::kBf16},
                {{"tp1.pp1.dp1.mb2.attn=cudnn", kMultiHead}, planner::Precision::kBf16},
                {{"tp1.pp1.dp1.rc=selective.attn=cudnn"}, planner::Precision::kBf16}});
  return cases;
}

std::vector<Case> ManyDevicesCases() {
  return {{{"tp2.pp1.dp1"}},
          {{"tp2.pp1.dp1", kQkNorm}},
          {{"tp1.pp2.dp1"}},
          {{"tp1.pp1.dp2"}},
          {{"tp1.cp2.pp1.dp1"}},
          {{"tp1.cp2.pp1.dp1", kMultiHead}, planner::Precision::kBf16},
          {{"tp1.cp2.pp1.dp1.attn=cudnn"}, planner::Precision::kBf16},
          {{"tp1.pp2.dp1.vpp2.sched=zb_v"}},
          {{"tp1.pp1.dp2.zero3"}, planner::Precision::kBf16},
          {{"tp1.cp4.pp1.dp1"}},
          {{"tp2.pp2.dp1"}}};
}

std::string NameOf(const testing::TestParamInfo<Case>& test) {
  return std::string(planner::PrecisionName(test.param.precision)) + "_" +
         CaseName(test.param.layout);
}

INSTANTIATE_TEST_SUITE_P(OneDevice, LayoutsCudaTest, testing::ValuesIn(OneDeviceCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(ManyDevices, LayoutsCudaTest, testing::ValuesIn(ManyDevicesCases()),
                         NameOf);

}  // namespace
}  // namespace meshwright::trial
