#include "executor/worker/state/newton_schulz.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "executor/worker/comm/host_kernels.h"
#include "executor/worker/state/random.h"

namespace meshwright::worker {
namespace {

at::Tensor Random(int64_t rows, int64_t columns) {
  const at::Tensor x = at::empty({rows, columns}, at::kFloat);
  HostKernels().Run(kernels::RandomNormal{.key = RandomKey(7, "matrix"),
                                          .begin = 0,
                                          .rows = rows,
                                          .columns = columns,
                                          .stride = columns,
                                          .deviation = 1e-5f,
                                          .values = x.data_ptr<float>()});
  return x.to(at::kDouble);
}

at::Tensor Orthogonal(const at::Tensor& x) {
  const int64_t smaller = std::min(x.size(0), x.size(1));
  const at::TensorOptions options = x.options();
  return Orthogonalise(x.clone(), x.norm().item<double>(), 5,
                       {.other = at::empty({x.size(0), x.size(1)}, options),
                        .gram = at::empty({smaller, smaller}, options),
                        .polynomial = at::empty({smaller, smaller}, options)});
}

class NewtonSchulzTest : public testing::TestWithParam<std::pair<int64_t, int64_t>> {};

// The least of a square Gaussian matrix's may be as small as it likes.
TEST_P(NewtonSchulzTest, SingularValuesComeNearOneAndDirectionsStay) {
  const auto [rows, columns] = GetParam();
  const at::Tensor x = Random(rows, columns);
  const at::Tensor y = Orthogonal(x);
  const at::Tensor values = at::linalg_svdvals(y);
  EXPECT_GT(values.min().item<double>(), 0.65);
  EXPECT_LT(values.max().item<double>(), 1.25);
  // U V^T of x = U S V^T has the same singular vectors, so that U^T y V is diagonal and positive.
  const auto [u, s, vh] = at::linalg_svd(x, /*full_matrices=*/false);
  const at::Tensor turned = at::matmul(at::matmul(u.t(), y), vh.t());
  EXPECT_GT(turned.diagonal().min().item<double>(), 0.65);
  EXPECT_LT(turned.sub(turned.diagonal().diag()).abs().max().item<double>(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Shapes, NewtonSchulzTest,
                         testing::Values(std::pair{24, 72}, std::pair{72, 24}, std::pair{1, 40},
                                         std::pair{128, 31}, std::pair{31, 128}));

TEST(NewtonSchulz, LeavesAMatrixOfZerosAsItIs) {
  EXPECT_EQ(Orthogonal(at::zeros({6, 4}, at::kDouble)).abs().max().item<double>(), 0.0);
}

}  // namespace
}  // namespace meshwright::worker
