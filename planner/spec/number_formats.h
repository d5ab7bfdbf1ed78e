// NumberFormats gives the number format of everything that a training step stores, keeps,
// multiplies, adds up and sends.
//
// A training spec names a precision, one word for all formats. NumberFormatsOf() maps that word to
// formats, and every size in bytes follows from the formats. If a framework holds or reduces
// gradients in a different format, its profile gives their bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::planner {

enum class NumberFormat : uint8_t { kBf16, kFp16, kFp32, kFp64, kFp8, kFp4 };

// Returns the bytes that hold one element. Two fp4 elements share one byte, so fp4 returns 1.
constexpr int64_t BytesOf(NumberFormat format) {
  switch (format) {
    case NumberFormat::kBf16:
    case NumberFormat::kFp16:
      return 2;
    case NumberFormat::kFp32:
      return 4;
    case NumberFormat::kFp64:
      return 8;
    case NumberFormat::kFp8:
    case NumberFormat::kFp4:
      return 1;
  }
  return 0;
}

// The precision that a user asks for. bf16 is mixed precision with fp32 sums and optimizer states,
// and so is fp16, whose loss is scaled. fp32 and fp64 are one format throughout. The others are
// bf16 except for the products of blocks, which a recipe quantises (planner/spec/quantisation.h).
enum class Precision : uint8_t {
  kBf16,
  kFp16,
  kFp32,
  kFp64,
  kFp8Delayed,
  kFp8Current,
  kFp8Blockwise,
  kMxfp8,
  kNvfp4
};

std::string_view PrecisionName(Precision precision);
// Parses "bf16", "fp16", "fp32", "fp64", "fp8-delayed", "fp8-current", "fp8-blockwise", "mxfp8" or
// "nvfp4". Returns InvalidArgument naming `dtype` for any other text.
absl::StatusOr<Precision> ParsePrecision(std::string_view text);

// The format of both factors of a matmul, by the pass that multiplies them.
struct MatmulInputs {
  NumberFormat forward = NumberFormat::kBf16;
  NumberFormat input_gradient = NumberFormat::kBf16;
  NumberFormat weight_gradient = NumberFormat::kBf16;

  friend bool operator==(const MatmulInputs&, const MatmulInputs&) = default;
};

struct NumberFormats {
  // Weights that are stored, gathered and read by a forward pass.
  NumberFormat weights = NumberFormat::kBf16;
  // Activations kept for backward, and their gradients.
  NumberFormat activations = NumberFormat::kBf16;
  MatmulInputs matmul_inputs = {};
  NumberFormat wire = NumberFormat::kBf16;  // activations sent between ranks of tp, cp and pp
  // Gradients of weights, added up over micro-batches.
  NumberFormat gradients = NumberFormat::kFp32;
  // The format of statistics, sums, and tables that are multiplied into activations; never narrower
  // than fp32.
  NumberFormat accumulator = NumberFormat::kFp32;
  NumberFormat optimizer_states = NumberFormat::kFp32;

  // Returns whether the optimizer's states include a master copy of the weights. The states include
  // one if the stored weights are narrower than the states.
  constexpr bool HasMasterWeights() const { return BytesOf(weights) < BytesOf(optimizer_states); }

  friend bool operator==(const NumberFormats&, const NumberFormats&) = default;
};

constexpr NumberFormats NumberFormatsOf(Precision precision) {
  const auto all_in = [](NumberFormat format, NumberFormat sums) {
    return NumberFormats{.weights = format,
                         .activations = format,
                         .matmul_inputs = {format, format, format},
                         .wire = format,
                         .gradients = sums,
                         .accumulator = sums,
                         .optimizer_states = sums};
  };
  switch (precision) {
    case Precision::kBf16:
    case Precision::kFp8Delayed:
    case Precision::kFp8Current:
    case Precision::kFp8Blockwise:
    case Precision::kMxfp8:
    case Precision::kNvfp4:
      break;
    case Precision::kFp16:
      return all_in(NumberFormat::kFp16, NumberFormat::kFp32);
    case Precision::kFp32:
      return all_in(NumberFormat::kFp32, NumberFormat::kFp32);
    case Precision::kFp64:
      return all_in(NumberFormat::kFp64, NumberFormat::kFp64);
  }
  return all_in(NumberFormat::kBf16, NumberFormat::kFp32);
}

}  // namespace meshwright::planner
