#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "tests/kernels/operator_cases.h"

namespace meshwright::kernels {
namespace {

// A loop of several ranges, as a thread pool would call it.
Parallel ChunkedParallel() {
  return {[](int64_t count, int64_t grain, RangeBody body, void* state) {
    for (int64_t begin = 0; begin < count; begin += grain) {
      body(state, begin, begin + grain < count ? begin + grain : count);
    }
  }};
}

class CpuKernelsTest : public testing::TestWithParam<std::tuple<std::string, ElementType, size_t>> {
};

TEST_P(CpuKernelsTest, AgreesWithTheReference) {
  const auto& [instruction_set, type, index] = GetParam();
  const auto kernels = MakeCpuKernels(ChunkedParallel(), instruction_set);
  if (kernels == nullptr) GTEST_SKIP() << "this machine has no " << instruction_set;
  const OperatorCase operator_case = OperatorCases()[index];
  HostMemory memory;
  const auto expected = operator_case.run(*MakeReferenceKernels(), memory, type);
  const auto actual = operator_case.run(*kernels, memory, type);
  EXPECT_LT(RelativeError(actual, expected), Tolerance(type));
}

INSTANTIATE_TEST_SUITE_P(AllOperators, CpuKernelsTest,
                         testing::Combine(testing::Values("base", "v3", "v4"),
                                          testing::Values(ElementType::kFp32, ElementType::kBf16),
                                          testing::Range<size_t>(0, OperatorCases().size())),
                         [](const auto& test) {
                           return std::get<0>(test.param) +
                                  (std::get<1>(test.param) == ElementType::kFp32 ? "Fp32"
                                                                                 : "Bf16") +
                                  OperatorCases()[std::get<2>(test.param)].name;
                         });

// The gradient of `loss` by `x` at each element, by central differences.
template <typename Loss>
std::vector<double> Differences(std::vector<float> x, const Loss& loss) {
  constexpr float kStep = 1e-2f;
  std::vector<double> gradient;
  for (float& value : x) {
    const float before = value;
    value = before + kStep;
    const double above = loss(x);
    value = before - kStep;
    const double below = loss(x);
    value = before;
    gradient.push_back((above - below) / (2.0 * static_cast<double>(kStep)));
  }
  return gradient;
}

TEST(ReferenceKernelsTest, RmsNormBackwardIsTheGradientOfItsForward) {
  const auto kernels = MakeReferenceKernels();
  const std::vector<float> x = {0.5f, -1.2f, 0.7f, 2.0f, 0.1f, -0.4f};
  const std::vector<float> weight = {1.0f, 0.5f, -2.0f};
  const std::vector<float> dy = {0.3f, -0.2f, 0.9f, 1.0f, -1.0f, 0.4f};
  std::vector<float> y(6);
  std::vector<float> rstd(2);
  const auto forward = [&](const std::vector<float>& input) {
    kernels->Run(RmsNormForward{.type = ElementType::kFp32,
                                .rows = 2,
                                .width = 3,
                                .epsilon = 1e-5f,
                                .x = input.data(),
                                .weight = weight.data(),
                                .y = y.data(),
                                .rstd = rstd.data()});
    double loss = 0.0;
    for (size_t i = 0; i < y.size(); ++i) {
      loss += static_cast<double>(y[i]) * static_cast<double>(dy[i]);
    }
    return loss;
  };
  const std::vector<double> expected = Differences(x, forward);
  forward(x);
  std::vector<float> dx(6);
  kernels->Run(RmsNormBackward{.type = ElementType::kFp32,
                               .rows = 2,
                               .width = 3,
                               .dy = dy.data(),
                               .x = x.data(),
                               .weight = weight.data(),
                               .rstd = rstd.data(),
                               .residual_gradient = nullptr,
                               .dx = dx.data(),
                               .weight_gradient = nullptr});
  for (size_t i = 0; i < dx.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(dx[i]), expected[i], 1e-3);
  }
}

TEST(ReferenceKernelsTest, SwigluBackwardIsTheGradientOfItsForward) {
  const auto kernels = MakeReferenceKernels();
  const std::vector<float> gate_up = {0.5f, -1.2f, 0.7f, 2.0f, 0.1f, -3.0f, 1.5f, -0.8f};
  const std::vector<float> dproduct = {0.3f, -0.2f, 0.9f, 1.0f};
  const auto forward = [&](const std::vector<float>& input) {
    std::vector<float> product(4);
    kernels->Run(SwigluForward{.type = ElementType::kFp32,
                               .rows = 2,
                               .width = 2,
                               .gate_up = input.data(),
                               .product = product.data()});
    double loss = 0.0;
    for (size_t i = 0; i < product.size(); ++i) {
      loss += static_cast<double>(product[i]) * static_cast<double>(dproduct[i]);
    }
    return loss;
  };
  const std::vector<double> expected = Differences(gate_up, forward);
  std::vector<float> gradient = gate_up;
  kernels->Run(SwigluBackward{.type = ElementType::kFp32,
                              .rows = 2,
                              .width = 2,
                              .dproduct = dproduct.data(),
                              .gate_up = gradient.data()});
  for (size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(gradient[i]), expected[i], 1e-3);
  }
}

TEST(Bf16Test, RoundsToNearestEven) {
  const auto rounded = [](float value) {
    Bf16 bf16;
    FromFloat(value, bf16);
    return ToFloat(bf16);
  };
  EXPECT_EQ(rounded(1.0f), 1.0f);
  EXPECT_EQ(rounded(1.0f + 1.0f / 256), 1.0f);              // halfway, down to even
  EXPECT_EQ(rounded(1.0f + 3.0f / 256), 1.0f + 1.0f / 64);  // halfway, up to even
  EXPECT_TRUE(std::isnan(rounded(NAN)));
  EXPECT_TRUE(std::isinf(rounded(INFINITY)));
}

}  // namespace
}  // namespace meshwright::kernels
