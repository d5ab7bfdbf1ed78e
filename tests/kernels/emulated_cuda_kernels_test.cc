// The CUDA kernels against the reference, on the processor: their indices, reductions and
// barriers, on every machine. cuda_kernels_test.cc is the same on a device.
#include <gtest/gtest.h>

#include <tuple>

#include "tests/kernels/operator_cases.h"

namespace meshwright::kernels {
namespace {

class EmulatedCudaKernelsTest : public testing::TestWithParam<std::tuple<ElementType, size_t>> {};

TEST_P(EmulatedCudaKernelsTest, AgreesWithTheReference) {
  const auto& [type, index] = GetParam();
  const OperatorCase operator_case = OperatorCases()[index];
  HostMemory memory;
  const auto kernels = MakeCudaKernels([]() -> void* { return nullptr; });
  const auto expected = operator_case.run(*MakeReferenceKernels(), memory, type);
  const auto actual = operator_case.run(*kernels, memory, type);
  EXPECT_LT(RelativeError(actual, expected), Tolerance(type));
}

INSTANTIATE_TEST_SUITE_P(AllOperators, EmulatedCudaKernelsTest,
                         testing::Combine(testing::ValuesIn(kElementTypes),
                                          testing::Range<size_t>(0, OperatorCases().size())),
                         [](const auto& test) {
                           return TypeName(std::get<0>(test.param)) +
                                  OperatorCases()[std::get<1>(test.param)].name;
                         });

}  // namespace
}  // namespace meshwright::kernels
