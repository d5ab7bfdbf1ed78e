// One call of every fused operator on pseudo-random operands, so that implementations can be
// compared with the reference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "tests/kernels/memory.h"

namespace meshwright::kernels {

struct OperatorCase {
  std::string name;
  // Runs the operator and returns every array that it wrote in one vector.
  std::function<std::vector<double>(const Kernels&, Memory&, ElementType)> run;
};

// Shapes with and without remainders to vector code; some are larger than a thread's share.
std::vector<OperatorCase> OperatorCases();

// Largest difference over the largest magnitude of the reference.
double RelativeError(const std::vector<double>& actual, const std::vector<double>& reference);

inline constexpr ElementType kElementTypes[] = {ElementType::kFp32, ElementType::kBf16,
                                                ElementType::kFp64};
std::string TypeName(ElementType type);

// What rounding alone may cause.
double Tolerance(ElementType type);

}  // namespace meshwright::kernels
