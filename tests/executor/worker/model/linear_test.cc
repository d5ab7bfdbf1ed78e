#include "executor/worker/model/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "executor/worker/comm/cpu_device.h"
#include "planner/worker_memory/worker_matmul.h"
#include "tests/executor/test_models.h"

namespace meshwright::worker {
namespace {

class LinearTest : public testing::TestWithParam<planner::Precision> {
 protected:
  LinearTest() {
    context_.model = trial::TinyModel();
    context_.training = trial::TinyTraining();
    context_.training.precision = GetParam();
    context_.device = std::make_unique<CpuDevice>();
  }

  const c10::InferenceMode no_tape_;
  RankContext context_;
};

// Large enough for several pieces in bf16.
TEST_P(LinearTest, AnEmptyWeightGradientIsWrittenAndAnyOtherAddedTo) {
  constexpr int64_t kTokens = 3;
  constexpr int64_t kOutputs = 1200;
  constexpr int64_t kInputs = 1000;
  ASSERT_LT(planner::MatmulPieceRows(kOutputs, kInputs), kOutputs);
  const at::Tensor dy = at::rand({kTokens, kOutputs}, context_.options());
  const at::Tensor x = at::rand({kTokens, kInputs}, context_.options());
  const at::Tensor product = at::mm(dy.t().to(at::kDouble), x.to(at::kDouble));
  const at::Tensor gradient =
      at::full({kOutputs, kInputs}, std::numeric_limits<double>::quiet_NaN(),
               context_.options_of(context_.accumulator_dtype()));
  const double tolerance = GetParam() == planner::Precision::kBf16 ? 0.02 : 1e-5;
  for (int part = 0; part < 2; ++part) {
    LinearBackwardWeight(context_, dy, x, {.values = gradient, .empty = part == 0});
    const at::Tensor difference = gradient.to(at::kDouble) - product * (part + 1);
    EXPECT_LT(difference.abs().max().item<double>(), tolerance) << "part " << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, LinearTest,
                         testing::Values(planner::Precision::kBf16, planner::Precision::kFp32,
                                         planner::Precision::kFp64),
                         [](const auto& test) {
                           return std::string(planner::PrecisionName(test.param));
                         });

}  // namespace
}  // namespace meshwright::worker
