#include "planner/spec/number_formats.h"

#include "planner/base/enum_names.h"

namespace meshwright::planner {
namespace {

constexpr EnumNames<Precision, 3> kPrecisions = {{
    {Precision::kBf16, "bf16"},
    {Precision::kFp32, "fp32"},
    {Precision::kFp64, "fp64"},
}};

}  // namespace

std::string_view PrecisionName(Precision precision) { return NameOf(kPrecisions, precision); }

absl::StatusOr<Precision> ParsePrecision(std::string_view text) {
  for (const auto& [precision, name] : kPrecisions) {
    if (name == text) return precision;
  }
  return FieldError("dtype", text, "must be bf16, fp32 or fp64");
}

}  // namespace meshwright::planner
