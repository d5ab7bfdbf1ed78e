// The CUDA kernels against the reference, on the processor: their indices, reductions and
// barriers, on every machine. cuda_kernels_test.cc is the same on a device.
#include <gtest/gtest.h>

#include "tests/kernels/operator_suite.h"

namespace meshwright::kernels {
namespace {

class EmulatedCudaKernelsTest : public testing::TestWithParam<OperatorParam> {};

TEST_P(EmulatedCudaKernelsTest, AgreesWithTheReference) {
  HostMemory memory;
  ExpectTheReferencesNumbers(*MakeCudaKernels([]() -> void* { return nullptr; }), memory,
                             GetParam());
}

INSTANTIATE_TEST_SUITE_P(AllOperators, EmulatedCudaKernelsTest, AllOperators(),
                         [](const auto& test) { return NameOf(test.param); });

}  // namespace
}  // namespace meshwright::kernels
