#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernels/number_suite.h"
#include "tests/kernels/operator_suite.h"

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

class CpuKernelsTest : public testing::TestWithParam<std::tuple<std::string, OperatorParam>> {};

TEST_P(CpuKernelsTest, AgreesWithTheReference) {
  const auto& [instruction_set, operator_param] = GetParam();
  const auto kernels = MakeCpuKernels(ChunkedParallel(), instruction_set);
  if (kernels == nullptr) GTEST_SKIP() << "this machine has no " << instruction_set;
  HostMemory memory;
  ExpectTheReferencesNumbers(*kernels, memory, operator_param);
}

INSTANTIATE_TEST_SUITE_P(AllOperators, CpuKernelsTest,
                         testing::Combine(testing::Values("base", "v3", "v4"), AllOperators()),
                         [](const auto& test) {
                           return std::get<0>(test.param) + NameOf(std::get<1>(test.param));
                         });

class CpuNumbersTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (kernels_ == nullptr) GTEST_SKIP() << "this machine has no " << GetParam();
  }

  const std::unique_ptr<Kernels> kernels_ = MakeCpuKernels(ChunkedParallel(), GetParam());
  HostMemory memory_;
};

TEST_P(CpuNumbersTest, RoundsEveryKindOfNumberToBf16) { ExpectBf16OfEveryKind(*kernels_, memory_); }

TEST_P(CpuNumbersTest, RoundsEveryKindOfNumberToE4m3) { ExpectE4m3OfEveryKind(*kernels_, memory_); }

TEST_P(CpuNumbersTest, QuantisesTilesOfEveryShapeToTheBit) {
  ExpectTheReferencesTiles(*kernels_, memory_);
}

TEST_P(CpuNumbersTest, MakesTheReferencesNormals) {
  ExpectTheReferencesNormals(*kernels_, memory_);
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, CpuNumbersTest, testing::Values("base", "v3", "v4"),
                         [](const auto& test) { return test.param; });

TEST(SumOfSquaresTest, IsTheSameForEveryNumberOfThreads) {
  std::vector<float> x(123'457);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  std::vector<double> partial_sums(SumOfSquares::kPartialSums);
  const auto sum_with = [&](Parallel parallel) {
    double sum = 0.0;
    MakeCpuKernels(parallel)->Run(SumOfSquares{.type = ElementType::kFp32,
                                               .count = static_cast<int64_t>(x.size()),
                                               .x = x.data(),
                                               .partial_sums = partial_sums.data(),
                                               .sum = &sum});
    return sum;
  };
  const Parallel one_thread = {
      [](int64_t count, int64_t, RangeBody body, void* state) { body(state, 0, count); }};
  EXPECT_EQ(sum_with(one_thread), sum_with(ChunkedParallel()));
}

TEST(E4m3Test, ReadsBackWhatItWrites) {
  for (int code = 0; code < 256; ++code) {
    const float value = FromE4m3(static_cast<uint8_t>(code));
    if (std::isnan(value)) {
      EXPECT_EQ(code & 0x7f, 0x7f);
    } else {
      EXPECT_EQ(ToE4m3(value), code);
      EXPECT_EQ(ToE4m3(static_cast<double>(value)), code);
    }
  }
}

TEST(E4m3Test, RoundsToNearestEvenAndSaturates) {
  const auto rounded = [](float value) { return FromE4m3(ToE4m3(value)); };
  EXPECT_EQ(rounded(1.0f + 1.0f / 16), 1.0f);             // halfway, down to even
  EXPECT_EQ(rounded(1.0f + 3.0f / 16), 1.0f + 1.0f / 4);  // halfway, up to even
  EXPECT_EQ(rounded(0x1p-10f), 0.0f);                     // halfway to the smallest
  EXPECT_EQ(rounded(3 * 0x1p-10f), 0x1p-8f);
  EXPECT_EQ(rounded(460.0f), 448.0f);
  EXPECT_EQ(rounded(-INFINITY), -448.0f);
  EXPECT_TRUE(std::isnan(rounded(NAN)));
}

TEST(Bf16Test, RoundsToNearestEven) {
  const auto rounded = [](float value) {
    Bf16 bf16;
    Narrow(value, bf16);
    return Widen(bf16);
  };
  EXPECT_EQ(rounded(1.0f), 1.0f);
  EXPECT_EQ(rounded(1.0f + 1.0f / 256), 1.0f);              // halfway, down to even
  EXPECT_EQ(rounded(1.0f + 3.0f / 256), 1.0f + 1.0f / 64);  // halfway, up to even
  EXPECT_TRUE(std::isnan(rounded(NAN)));
  EXPECT_TRUE(std::isinf(rounded(INFINITY)));
}

}  // namespace
}  // namespace meshwright::kernels
