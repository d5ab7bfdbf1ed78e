#include "planner/rules/limit_rules.h"

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "planner/spec/quantisation.h"

namespace meshwright::planner {

std::string DescribeDeviceFormat(const Operands& operands) {
  const auto precision = static_cast<Precision>(operands.value);
  const Quantisation quantisation = QuantisationOf(precision);
  const std::string_view name = PrecisionName(precision);
  if (!quantisation.narrows()) {
    return absl::StrCat("the cluster's device has no products for ", AbslView(name),
                        ": its peak_bf16_flops is 0; must be fp16 or fp32 (--dtype)");
  }
  const bool fp4 = quantisation.products == NumberFormat::kFp4;
  return absl::StrCat("the cluster's device has no products for ", AbslView(name), ": its ",
                      fp4 ? "peak_fp4_flops" : "peak_fp8_flops",
                      " is 0; must be what its data sheet says, in FLOP/s");
}

}  // namespace meshwright::planner
