#include "planner/spec/number_formats.h"

#include <algorithm>
#include <string>

#include "base/text/enum_names.h"

namespace meshwright::planner {
namespace {

constexpr EnumNames<Precision, 9> kPrecisions = {{
    {Precision::kBf16, "bf16"},
    {Precision::kFp16, "fp16"},
    {Precision::kFp32, "fp32"},
    {Precision::kFp64, "fp64"},
    {Precision::kFp8Delayed, "fp8-delayed"},
    {Precision::kFp8Current, "fp8-current"},
    {Precision::kFp8Blockwise, "fp8-blockwise"},
    {Precision::kMxfp8, "mxfp8"},
    {Precision::kNvfp4, "nvfp4"},
}};

}  // namespace

std::string_view PrecisionName(Precision precision) { return NameOf(kPrecisions, precision); }

absl::StatusOr<Precision> ParsePrecision(std::string_view text) {
  std::string spelt(text);
  std::replace(spelt.begin(), spelt.end(), '_', '-');  // messages spell it with underscores
  for (const auto& [precision, name] : kPrecisions) {
    if (name == spelt) return precision;
  }
  return FieldError(
      "dtype", text,
      "must be bf16, fp16, fp32, fp64, fp8-delayed, fp8-current, fp8-blockwise, mxfp8 or nvfp4");
}

}  // namespace meshwright::planner
