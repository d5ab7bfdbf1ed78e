#include "planner/rules/kernel_rules.h"

#include "absl/strings/str_cat.h"

namespace meshwright::planner {
namespace {

// Decodes the operands of Lacks().
template <typename Kind>
struct Lacking {
  explicit Lacking(const Operands& operands)
      : kind(static_cast<Kind>(operands.value)),
        here(EnumSet<Kind>::FromBits(operands.more[0])),
        anywhere(EnumSet<Kind>::FromBits(operands.divisor)),
        device(static_cast<DeviceKind>(operands.more[1])),
        other_device(device == DeviceKind::kCpu ? DeviceKind::kCuda : DeviceKind::kCpu) {}

  bool is_elsewhere() const { return anywhere.Has(kind); }

  Kind kind;
  EnumSet<Kind> here;
  EnumSet<Kind> anywhere;
  DeviceKind device;
  DeviceKind other_device;
};

std::string FfnName(FfnKind ffn) { return std::string(NameOf(kFfnKindNames, ffn)); }

std::string Named(AttentionKernel kernel) { return std::string(AttentionKernelName(kernel)); }

std::string Named(Precision precision) { return std::string(PrecisionName(precision)); }

std::string Named(DeviceKind device) { return std::string(DeviceKindName(device)); }

std::string WorkerCannot(const std::string& what, const std::string& instead) {
  return absl::StrCat("the worker can't run ", what, "; it runs ", instead);
}

}  // namespace

std::string DescribeFfn(const Operands& operands) {
  return WorkerCannot(absl::StrCat("a ", FfnName(static_cast<FfnKind>(operands.value)), " FFN"),
                      NamesOf(EnumSet<FfnKind>::FromBits(operands.divisor), FfnName));
}

std::string DescribeModelPart(const Operands& operands) {
  const std::string model = absl::StrCat(
      "a model with ", NamesOf(EnumSet<ModelPart>::FromBits(operands.value), ModelPartName));
  switch (static_cast<RunsPart>(operands.more[0])) {
    case RunsPart::kNowhere:
      break;
    case RunsPart::kOnCpu:
      return WorkerCannot(model + " on cuda", "it on cpu");
    case RunsPart::kWithFlash2:
      return WorkerCannot(
          absl::StrCat(model, " on cuda in ", Named(static_cast<Precision>(operands.more[1])),
                       " with attn=", Named(static_cast<AttentionKernel>(operands.more[2]))),
          "it there in bf16 with attn=flash2, and on cpu");
  }
  return WorkerCannot(
      model, absl::StrCat("models of ",
                          NamesOf(EnumSet<ModelPart>::FromBits(operands.divisor), ModelPartName)));
}

std::string DescribeHeadDim(const Operands& operands) {
  return WorkerCannot(
      absl::StrCat("head_dim = ", operands.value),
      operands.divisor == 2 ? "even head_dim" : absl::StrCat("multiples of ", operands.divisor));
}

std::string DescribeHeadDimOnCuda(const Operands& operands) {
  const auto [most, precision, attention] = operands.more;
  const auto kernel = static_cast<AttentionKernel>(attention);
  const std::string with =
      kernel == AttentionKernel::kDefault ? "" : absl::StrCat(" with attn=", Named(kernel));
  return WorkerCannot(absl::StrCat("head_dim = ", operands.value, " in ",
                                   Named(static_cast<Precision>(precision)), with, " on cuda"),
                      absl::StrCat("multiples of ", operands.divisor,
                                   most == 0 ? std::string() : absl::StrCat(" up to ", most)));
}

std::string DescribePrecision(const Operands& operands) {
  const Lacking<Precision> lacking(operands);
  const std::string name = Named(lacking.kind);
  if (lacking.is_elsewhere()) {
    return WorkerCannot(absl::StrCat(name, " on ", Named(lacking.device)),
                        absl::StrCat(name, " on ", Named(lacking.other_device)));
  }
  return WorkerCannot(name, NamesOf(lacking.anywhere, PrecisionName));
}

std::string DescribeAttention(const Operands& operands) {
  const Lacking<AttentionKernel> lacking(operands);
  const std::string name = absl::StrCat("attn=", Named(lacking.kind));
  if (lacking.anywhere.empty()) {
    return absl::StrCat("the device does not run ", name, "; it runs ",
                        NamesOf(lacking.here, AttentionKernelName));
  }
  if (lacking.is_elsewhere()) {
    return WorkerCannot(absl::StrCat(name, " on ", Named(lacking.device)),
                        absl::StrCat("attn=", NamesOf(lacking.here, AttentionKernelName),
                                     " there, both on ", Named(lacking.other_device)));
  }
  return WorkerCannot(name, NamesOf(lacking.anywhere, AttentionKernelName));
}

std::string DescribeNorm(const Operands& operands) {
  const auto norm = static_cast<NormKernel>(operands.value);
  return WorkerCannot(absl::StrCat("norm=", std::string(NormKernelName(norm))),
                      absl::StrCat("norm=", NamesOf(EnumSet<NormKernel>::FromBits(operands.divisor),
                                                    NormKernelName)));
}

}  // namespace meshwright::planner
