// An OperatorCase is a call of a fused operator on pseudo-random operands, with which
// implementations are compared with the reference.
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
  // Runs the operator and returns all arrays that it wrote as one vector.
  std::function<std::vector<double>(const Kernels&, Memory&, ElementType)> run;
};

// Row widths, in packs of 16 bytes, that kernels handle differently: with one or several warps,
// with few or many registers per thread, at the limits between these, and without registers.
inline constexpr int64_t kRowPacks[] = {5, 64, 125, 384, 513, 1024, 2048, 2049};

inline int64_t WidthOfPacks(ElementType type, int64_t packs) {
  constexpr int64_t kBf16Elements = 8;
  const int64_t size = type == ElementType::kFp64 ? 4 : (type == ElementType::kFp32 ? 2 : 1);
  return packs * kBf16Elements / size;
}

// Returns a function that calls `run` with rows of the given number of packs.
template <typename Run>
auto OfPacks(Run run, int64_t packs) {
  return [=](const Kernels& kernels, Memory& memory, ElementType type, auto... options) {
    return run(kernels, memory, type, WidthOfPacks(type, packs), options...);
  };
}

// Returns the number of rows of a norm. Wide rows are few, so that tests on an emulated GPU end in
// time.
constexpr int64_t RowsOf(int64_t width) { return width < 3000 ? 67 : 9; }

// Returns all cases. Their shapes have and lack remainders in vector code, and some exceed a
// thread's share.
std::vector<OperatorCase> OperatorCases();

// Returns the part of OperatorCases() for the operators of a mixture of experts.
std::vector<OperatorCase> ExpertOperatorCases();
// Returns the part for operators of blocks like GPT-2's that blocks like Llama's lack: LayerNorm,
// FFNs without a gate, and biases.
std::vector<OperatorCase> GptOperatorCases();
// Returns the part for operators that quantise and dequantise.
std::vector<OperatorCase> QuantiseOperatorCases();

// Returns the largest difference divided by the reference's largest magnitude.
double RelativeError(const std::vector<double>& actual, const std::vector<double>& reference);

inline constexpr ElementType kElementTypes[] = {ElementType::kFp32, ElementType::kBf16,
                                                ElementType::kFp64};
std::string TypeName(ElementType type);

// Returns the largest relative error that rounding alone may cause.
double Tolerance(ElementType type);

}  // namespace meshwright::kernels
