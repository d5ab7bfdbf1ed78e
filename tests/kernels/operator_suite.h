// Any implementation of the operators against the reference: one test per operator and type.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/kernels/operator_cases.h"

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

// `memory` is where `kernels` work.
inline void ExpectTheReferencesNumbers(const Kernels& kernels, Memory& memory,
                                       const OperatorParam& param) {
  const auto& [type, index] = param;
  const OperatorCase operator_case = OperatorCases()[index];
  HostMemory host;
  const auto expected = operator_case.run(*MakeReferenceKernels(), host, type);
  const auto actual = operator_case.run(kernels, memory, type);
  EXPECT_LT(RelativeError(actual, expected), Tolerance(type));
}

}  // namespace meshwright::kernels
