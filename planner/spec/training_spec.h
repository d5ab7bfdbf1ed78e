// What one training step processes, and in which number format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::planner {

enum class Precision { kBf16, kFp32, kFp64 };

std::string_view PrecisionName(Precision precision);
absl::StatusOr<Precision> ParsePrecision(std::string_view text);  // "bf16", "fp32" or "fp64"

// Bytes of a weight or an activation.
constexpr int64_t ElementBytes(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return 2;
    case Precision::kFp32:
      return 4;
    case Precision::kFp64:
      return 8;
  }
  return 0;
}

// Bytes of what is never narrower than fp32: an optimizer state, a statistic.
constexpr int64_t AccumulatorBytes(Precision precision) {
  return precision == Precision::kFp64 ? 8 : 4;
}

struct TrainingSpec {
  int64_t seq_len = 0;       // tokens per sequence
  int64_t global_batch = 0;  // sequences per optimizer step, over all devices
  Precision precision = Precision::kBf16;

  friend bool operator==(const TrainingSpec&, const TrainingSpec&) = default;
};

// InvalidArgument naming the field, its value and what would be accepted.
absl::Status Validate(const TrainingSpec& training);

}  // namespace meshwright::planner
