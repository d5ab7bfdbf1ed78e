// ExpectTheReferencesNumbers() compares an implementation of the operators with the reference, in
// one test per operator and type.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernels/operator_cases.h"
#include "tests/kernels/reference/reference_kernels.h"

namespace meshwright::kernels {

// A type, and an index into OperatorCases().
using OperatorParam = std::tuple<ElementType, size_t>;

inline auto AllOperators() {
  return testing::Combine(testing::ValuesIn(kElementTypes),
                          testing::Range<size_t>(0, OperatorCases().size()));
}

inline std::string NameOf(const OperatorParam& param) {
  return TypeName(std::get<0>(param)) + OperatorCases()[std::get<1>(param)].name;
}

// `memory` is the memory of the device on which `kernels` runs.
inline void ExpectTheReferencesNumbers(const Kernels& kernels, Memory& memory,
                                       const OperatorParam& param) {
  const auto& [type, index] = param;
  const OperatorCase operator_case = OperatorCases()[index];
  HostMemory host;
  const auto expected = operator_case.run(*MakeReferenceKernels(), host, type);
  const auto actual = operator_case.run(kernels, memory, type);
  EXPECT_LT(RelativeError(actual, expected), Tolerance(type));
}

// The gradient of an embedding must not depend on the order in which rows are added. `run_again`
// repeats a case, possibly in another order.
inline void ExpectTheSameEmbeddingGradient(
    const Kernels& kernels, Memory& memory,
    const std::function<std::vector<double>(const std::function<std::vector<double>()>&)>&
        run_again) {
  for (const OperatorCase& operator_case : OperatorCases()) {
    if (operator_case.name.find("EmbeddingBackward") != 0) continue;
    for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
      const auto run = [&] { return operator_case.run(kernels, memory, type); };
      EXPECT_EQ(run(), run_again(run)) << operator_case.name << " " << TypeName(type);
    }
  }
}

}  // namespace meshwright::kernels
