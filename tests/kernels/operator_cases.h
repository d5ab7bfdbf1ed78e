// One call of every fused operator on pseudo-random operands, so that implementations can be
// compared with the reference.
#pragma once

#include <cstdint>
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

// Widths of rows, in packs of 16 bytes, that kernels keep in different ways: in one warp, in
// several, in few or many registers of each, at the limits of these ways, and not at all.
inline constexpr int64_t kRowPacks[] = {5, 64, 125, 384, 513, 1024, 2048, 2049};

inline int64_t WidthOfPacks(ElementType type, int64_t packs) {
  constexpr int64_t kBf16Elements = 8;
  const int64_t size = type == ElementType::kFp64 ? 4 : (type == ElementType::kFp32 ? 2 : 1);
  return packs * kBf16Elements / size;
}

// Calls run with the width of so many packs.
template <typename Run>
auto OfPacks(Run run, int64_t packs) {
  return [=](const Kernels& kernels, Memory& memory, ElementType type, auto... options) {
    return run(kernels, memory, type, WidthOfPacks(type, packs), options...);
  };
}

// Of a norm; few where they are wide, so that tests on an emulated device end in time.
constexpr int64_t RowsOf(int64_t width) { return width < 3000 ? 67 : 9; }

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
