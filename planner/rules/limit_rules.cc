#include "planner/rules/limit_rules.h"

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "planner/spec/quantisation.h"

namespace meshwright::planner {

bool HasProducts(const HardwareProfile& device, const TrainingSpec& training) {
  const Quantisation quantisation = training.quantisation();
  if (device.PeakFlops(training.formats().matmul_inputs.forward) <= 0.0) return false;
  if (!quantisation.narrows()) return true;
  return device.PeakFlops(quantisation.products) > 0.0 &&
         (!quantisation.scales_in_product || device.peak_fp4_flops > 0.0);
}

std::string DescribeDeviceFormat(const Operands& operands) {
  const auto precision = static_cast<Precision>(operands.value);
  const Quantisation quantisation = QuantisationOf(precision);
  const std::string_view name = PrecisionName(precision);
  if (!quantisation.narrows()) {
    return absl::StrCat("the cluster's device has no products for ", AbslView(name),
                        ": its peak_bf16_flops is 0; must be fp16 or fp32 (--dtype)");
  }
  const bool fp4 = quantisation.products == NumberFormat::kFp4;
  if (quantisation.scales_in_product && !fp4) {
    return absl::StrCat("the cluster's device has no products for ", AbslView(name),
                        ", whose scales of 32 elements only devices with fp4 products apply "
                        "(peak_fp4_flops is 0); must be fp8-delayed, fp8-current or fp8-blockwise");
  }
  return absl::StrCat("the cluster's device has no products for ", AbslView(name), ": its ",
                      fp4 ? "peak_fp4_flops" : "peak_fp8_flops",
                      " is 0; must be what its data sheet says, in FLOP/s");
}

}  // namespace meshwright::planner
