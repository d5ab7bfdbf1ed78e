// Narrowed products against the plain reference: every number and scale to the bit, sums to their
// order.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/model/projection.h"
#include "executor/worker/model/scaled_product.h"
#include "tests/executor/narrow_models.h"
#include "tests/executor/worker/reference_quantisation.h"

namespace meshwright::worker {
namespace {

class NarrowProductTest : public testing::TestWithParam<planner::Precision> {
 protected:
  NarrowProductTest() {
    at::set_num_threads(1);
    context_.model = trial::NarrowModel(/*layers=*/1);
    context_.training = trial::NarrowTraining(GetParam());
    context_.device = std::make_unique<CpuDevice>();
  }

  // Numbers of many sizes, some 0 and some rows of zeros.
  at::Tensor Numbers(int64_t rows, int64_t columns) const {
    const at::Tensor numbers = at::randn({rows, columns}, at::kDouble);
    const at::Tensor sizes = at::randn({rows, 1}, at::kDouble).exp().pow(3);
    at::Tensor x = (numbers * sizes).to(context_.dtype());
    x.narrow(0, rows / 2, 1).zero_();
    return x;
  }
  at::Tensor Weight(int64_t outputs, int64_t inputs) const {
    return (at::randn({outputs, inputs}, at::kDouble) * 0.02).to(context_.dtype());
  }

  // Every number of the matrix.
  at::Tensor Widened(const QuantisedMatrix& matrix) const {
    at::Tensor wide =
        at::zeros(matrix.values.sizes(), context_.options_of(context_.accumulator_dtype()));
    context_.device->kernels().Run(
        kernels::Dequantise{.type = context_.accumulator_element(),
                            .tiles = matrix.tiles,
                            .first_row = 0,
                            .first_column = 0,
                            .rows = wide.size(0),
                            .columns = wide.size(1),
                            .values = matrix.values.const_data_ptr<uint8_t>(),
                            .value_stride = matrix.values.stride(0),
                            .scales = matrix.scales.const_data_ptr<float>(),
                            .scale_stride = matrix.scales.stride(0),
                            .y = wide.mutable_data_ptr()});
    return wide.to(at::kDouble);
  }

  static double Deviation(const at::Tensor& actual, const at::Tensor& expected) {
    const at::Tensor wanted = expected.to(at::kDouble);
    return ((actual.to(at::kDouble) - wanted).norm() / wanted.norm()).item<double>();
  }
  // A rounding of the result, or the order of sums alone.
  static double Tolerance() {
    if (GetParam() == planner::Precision::kBf16) return 4e-3;
    return GetParam() == planner::Precision::kFp32 ? 1e-6 : 1e-14;
  }

  RankContext context_;
};

TEST_P(NarrowProductTest, QuantisesAsTheReferenceDoesToTheBit) {
  const at::Tensor x = Numbers(384, 256);
  const at::Tensor wide = x.to(at::kDouble);
  EXPECT_TRUE(at::equal(Widened(Quantised(context_, x, kernels::ScaleTiles::kRows)),
                        NarrowedAlong(wide, 1)));
  EXPECT_TRUE(at::equal(Widened(Quantised(context_, x, kernels::ScaleTiles::kColumns)),
                        NarrowedAlong(wide, 0)));
  EXPECT_TRUE(at::equal(Widened(Quantised(context_, x, kernels::ScaleTiles::kBlocks)),
                        NarrowedBlocks(wide)));
}

// Sizes that take several pieces.
TEST_P(NarrowProductTest, MultipliesAndHasTheGradientsOfTheReference) {
  const at::Tensor x = Numbers(256, 1152);
  const at::Tensor weight = Weight(4224, 1152);
  const at::Tensor dy = Numbers(256, 4224);
  ASSERT_LT(planner::NarrowedPieces(256, 4224, 1152).column_count, 4224);

  at::Tensor gradient = at::zeros({4224, 1152}, context_.options_of(context_.accumulator_dtype()));
  const ProductInput kept = KeepInput(context_, x);
  const at::Tensor y = ProjectionForward(context_, x, weight, at::Tensor());
  const at::Tensor dx = ProjectionBackwardInput(context_, dy, weight);
  ProjectionBackwardWeight(context_, dy, kept, {.values = gradient, .empty = true});

  const at::Tensor to_x = x.to(at::kDouble).requires_grad_(true);
  const at::Tensor to_weight = weight.to(at::kDouble).requires_grad_(true);
  const at::Tensor expected = NarrowProduct(to_x, to_weight);
  expected.backward(dy.to(at::kDouble));
  EXPECT_LT(Deviation(y, expected.detach()), Tolerance());
  EXPECT_LT(Deviation(dx, to_x.grad()), Tolerance());
  EXPECT_LT(Deviation(gradient, to_weight.grad()), Tolerance());

  ProjectionBackwardWeight(context_, dy, kept, {.values = gradient, .empty = false});
  EXPECT_LT(Deviation(gradient, 2.0 * to_weight.grad()), Tolerance());
}

// Experts have tiles of their own, which they need not fill.
TEST_P(NarrowProductTest, OfExpertsAreThoseOfEachExpert) {
  const RowGroups groups = {130, 0, 7, 128};
  const at::Tensor x = Numbers(265, 128);
  const at::Tensor weight = Weight(int64_t{4} * 256, 128);
  const at::Tensor dy = Numbers(265, 256);
  at::Tensor gradient =
      at::full({int64_t{4} * 256, 128}, 7.0, context_.options_of(context_.accumulator_dtype()));
  const ProductInput kept = KeepInput(context_, x, groups);
  const at::Tensor y = ProjectionForward(context_, x, weight, groups);
  const at::Tensor dx = ProjectionBackwardInput(context_, dy, weight, groups);
  ProjectionBackwardWeight(context_, dy, kept, groups, {.values = gradient, .empty = true});
  int64_t first = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const int64_t count = groups[i];
    const auto matrix = static_cast<int64_t>(i) * 256;
    const at::Tensor of_gradient = gradient.narrow(0, matrix, 256);
    if (count == 0) {
      EXPECT_TRUE((of_gradient == 0.0).all().item<bool>());
      continue;
    }
    const at::Tensor to_x = x.narrow(0, first, count).to(at::kDouble).requires_grad_(true);
    const at::Tensor to_weight = weight.narrow(0, matrix, 256).to(at::kDouble).requires_grad_(true);
    const at::Tensor expected = NarrowProduct(to_x, to_weight);
    expected.backward(dy.narrow(0, first, count).to(at::kDouble));
    EXPECT_LT(Deviation(y.narrow(0, first, count), expected.detach()), Tolerance());
    EXPECT_LT(Deviation(dx.narrow(0, first, count), to_x.grad()), Tolerance());
    EXPECT_LT(Deviation(of_gradient, to_weight.grad()), Tolerance());
    first += count;
  }
}

// What narrow_layouts_test relies on.
TEST_P(NarrowProductTest, OneNumberRoundedTheOtherWayShows) {
  if (GetParam() != planner::Precision::kFp64) GTEST_SKIP() << "only sums in fp64 are that near";
  const at::Tensor x = at::randn({256, 128}, at::kDouble);
  x.view({-1}).narrow(0, 1000, 1).fill_(1.0);
  const at::Tensor dy = at::randn({256, 128}, at::kDouble);
  const auto gradient_of = [&](const ProductInput& kept) {
    at::Tensor gradient = at::zeros({128, 128}, context_.options_of(context_.accumulator_dtype()));
    ProjectionBackwardWeight(context_, dy, kept, {.values = gradient, .empty = true});
    return gradient;
  };
  ProductInput kept = KeepInput(context_, x);
  const at::Tensor gradient = gradient_of(kept);
  kept.narrow.values.view({-1}).narrow(0, 1000, 1).add_(1);
  EXPECT_GT(Deviation(gradient_of(kept), gradient), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Around, NarrowProductTest,
                         testing::Values(planner::Precision::kBf16, planner::Precision::kFp32,
                                         planner::Precision::kFp64),
                         [](const auto& test) {
                           return std::string(planner::PrecisionName(test.param));
                         });

}  // namespace
}  // namespace meshwright::worker
