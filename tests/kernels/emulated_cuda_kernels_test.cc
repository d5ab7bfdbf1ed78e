// The CUDA kernels against the reference, on the processor: their indices, reductions and
// barriers, on every machine. cuda_kernels_test.cc is the same on a device.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "tests/kernels/number_suite.h"
#include "tests/kernels/operator_suite.h"

namespace meshwright::kernels {
namespace {

std::unique_ptr<Kernels> EmulatedKernels() {
  return MakeCudaKernels([]() -> void* { return nullptr; });
}

class EmulatedCudaKernelsTest : public testing::TestWithParam<OperatorParam> {};

TEST_P(EmulatedCudaKernelsTest, AgreesWithTheReference) {
  HostMemory memory;
  ExpectTheReferencesNumbers(*EmulatedKernels(), memory, GetParam());
}

INSTANTIATE_TEST_SUITE_P(AllOperators, EmulatedCudaKernelsTest, AllOperators(),
                         [](const auto& test) { return NameOf(test.param); });

TEST(EmulatedCudaNumbersTest, RoundsEveryKindOfNumberToBf16) {
  HostMemory memory;
  ExpectBf16OfEveryKind(*EmulatedKernels(), memory);
}

TEST(EmulatedCudaNumbersTest, TakesGatesOfEverySize) {
  HostMemory memory;
  ExpectSwigluOfEveryGate(*EmulatedKernels(), memory);
}

TEST(EmulatedCudaNumbersTest, MakesTheReferencesNormals) {
  HostMemory memory;
  ExpectTheReferencesNormals(*EmulatedKernels(), memory);
}

TEST(EmulatedCudaNumbersTest, RoundsEveryKindOfNumberToE4m3) {
  HostMemory memory;
  ExpectE4m3OfEveryKind(*EmulatedKernels(), memory);
}

TEST(EmulatedCudaNumbersTest, QuantisesTilesOfEveryShapeToTheBit) {
  HostMemory memory;
  ExpectTheReferencesTiles(*EmulatedKernels(), memory);
}

TEST(EmulatedCudaEmbeddingTest, AddsUpTheSameInEveryOrderOfBlocksAndThreads) {
  HostMemory memory;
  ExpectTheSameEmbeddingGradient(*EmulatedKernels(), memory, [](const auto& run) {
    cuda_emulation::backwards = true;
    auto outputs = run();
    cuda_emulation::backwards = false;
    return outputs;
  });
}

TEST(EmulatedCudaHeadNormTest, RefusesHeadsThatLanesCannotKeep) {
  HeadNormForward args = {};
  args.type = ElementType::kBf16;
  args.rows = 1;
  args.heads = 1;
  args.head_dim = 264;
  EXPECT_THROW(EmulatedKernels()->Run(args), std::out_of_range);
}

}  // namespace
}  // namespace meshwright::kernels
