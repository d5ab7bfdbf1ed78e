#include "planner/spec/training_spec.h"

#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::planner {

std::string_view PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp32:
      return "fp32";
    case Precision::kFp64:
      return "fp64";
  }
  return "";
}

absl::StatusOr<Precision> ParsePrecision(std::string_view text) {
  if (text == "bf16") return Precision::kBf16;
  if (text == "fp32") return Precision::kFp32;
  if (text == "fp64") return Precision::kFp64;
  return FieldError("dtype", text, "must be bf16, fp32 or fp64");
}

absl::Status Validate(const TrainingSpec& training) {
  RETURN_IF_ERROR(CheckRange("seq_len", training.seq_len, 1, int64_t{1} << 24));
  return CheckRange("global_batch", training.global_batch, 1, int64_t{1} << 24);
}

}  // namespace meshwright::planner
