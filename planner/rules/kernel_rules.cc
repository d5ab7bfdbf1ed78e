#include "planner/rules/kernel_rules.h"

#include "absl/strings/str_cat.h"
#include "planner/rules/operands.h"

namespace meshwright::planner {
namespace {

// What there is on the other kind of device counts as well in `divisor`: a sentence tells apart what
// is nowhere and what is elsewhere.
template <typename Kind>
bool Lacks(Kind kind, const EnumSet<Kind>& here, const EnumSet<Kind>& elsewhere, bool on_cpu,
           Operands& operands) {
  if (here.empty() || here.Has(kind)) return false;
  operands = {.value = static_cast<int64_t>(kind),
              .divisor = here.bits() | elsewhere.bits(),
              .more = {here.bits(), on_cpu ? 1 : 0, 0}};
  return true;
}

// What the operands of Lacks() say.
template <typename Kind>
struct Lacking {
  explicit Lacking(const Operands& operands)
      : kind(static_cast<Kind>(operands.value)),
        here(EnumSet<Kind>::FromBits(operands.more[0])),
        anywhere(EnumSet<Kind>::FromBits(operands.divisor)),
        device(operands.more[1] != 0 ? "cpu" : "cuda"),
        other_device(operands.more[1] != 0 ? "cuda" : "cpu") {}

  bool is_elsewhere() const { return anywhere.Has(kind); }

  Kind kind;
  EnumSet<Kind> here;
  EnumSet<Kind> anywhere;
  const char* device;
  const char* other_device;
};

std::string FfnName(FfnKind ffn) { return ffn == FfnKind::kSwiGlu ? "swiglu" : "gelu"; }

std::string Named(AttentionKernel kernel) { return std::string(AttentionKernelName(kernel)); }

std::string Named(Precision precision) { return std::string(PrecisionName(precision)); }

std::string WorkerCannot(const std::string& what, const std::string& instead) {
  return absl::StrCat("the worker can't run ", what, "; it runs ", instead);
}

}  // namespace

bool LacksFfn(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  const EnumSet<FfnKind> has = input.profile.supports.kernels.ffn;
  if (has.empty()) return false;
  for (const LayerGroup& group : input.model.groups) {
    if (!has.Has(group.ffn.kind)) return Broken(static_cast<int64_t>(group.ffn.kind), has.bits(), operands);
  }
  return false;
}

bool LacksQkNorm(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  if (input.profile.supports.kernels.qk_norm) return false;
  return AnyGroup(input.model, [&](const LayerGroup& group) {
    return group.attention.qk_norm && Broken(1, 0, operands);
  });
}

bool LacksHeadDim(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  const int64_t multiple = input.profile.supports.kernels.head_dim_multiple;
  return AnyGroup(input.model, [&](const LayerGroup& group) {
    return DoesNotDivide(group.attention.head_dim, multiple, operands);
  });
}

bool LacksSeveralHeadDims(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  if (!input.profile.supports.kernels.one_head_dim) return false;
  const int64_t first = input.model.groups.front().attention.head_dim;
  return AnyGroup(input.model, [&](const LayerGroup& group) {
    return group.attention.head_dim != first && Broken(first, group.attention.head_dim, operands);
  });
}

bool LacksHeadDimOnCuda(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (input.on_cpu) return false;
  const AttentionKernel attention = input.profile.AttentionOf(layout);
  for (const HeadSizes& sizes : input.profile.supports.kernels.cuda_head_sizes) {
    if (sizes.precision != input.training.precision) continue;
    if (sizes.attention.value_or(attention) != attention) continue;
    return AnyGroup(input.model, [&](const LayerGroup& group) {
      const int64_t head_dim = group.attention.head_dim;
      if (sizes.Take(head_dim)) return false;
      const AttentionKernel only = sizes.attention.value_or(AttentionKernel::kDefault);
      operands = {.value = head_dim,
                  .divisor = sizes.multiple_of,
                  .more = {sizes.most.value_or(0), static_cast<int64_t>(sizes.precision),
                           static_cast<int64_t>(only)}};
      return true;
    });
  }
  return false;
}

bool LacksPrecision(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  const KernelSupport& has = input.profile.supports.kernels;
  const Precision precision = input.training.precision;
  return input.on_cpu ? Lacks(precision, has.cpu_precisions, has.cuda_precisions, true, operands)
                      : Lacks(precision, has.cuda_precisions, has.cpu_precisions, false, operands);
}

bool LacksAttention(const RuleInput& input, const Layout& layout, Operands& operands) {
  const AttentionKernel named = layout.attention;
  if (named == AttentionKernel::kDefault) return false;
  const KernelSupport& has = input.profile.supports.kernels;
  return input.on_cpu ? Lacks(named, has.cpu_attention, has.cuda_attention, true, operands)
                      : Lacks(named, has.cuda_attention, has.cpu_attention, false, operands);
}

bool LacksNorm(const RuleInput& input, const Layout& layout, Operands& operands) {
  const EnumSet<NormKernel> has = input.profile.supports.kernels.norms;
  if (layout.norm == NormKernel::kDefault || has.empty() || has.Has(layout.norm)) return false;
  return Broken(static_cast<int64_t>(layout.norm), has.bits(), operands);
}

std::string DescribeFfn(const Operands& operands) {
  return WorkerCannot(absl::StrCat("a ", FfnName(static_cast<FfnKind>(operands.value)), " FFN"),
                      NamesOf(EnumSet<FfnKind>::FromBits(operands.divisor), FfnName));
}

std::string DescribeHeadDim(const Operands& operands) {
  return WorkerCannot(absl::StrCat("head_dim = ", operands.value),
                      operands.divisor == 2 ? "even head_dim"
                                            : absl::StrCat("multiples of ", operands.divisor));
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
    return WorkerCannot(absl::StrCat(name, " on ", lacking.device),
                        absl::StrCat(name, " on ", lacking.other_device));
  }
  return WorkerCannot(name, NamesOf(lacking.anywhere, PrecisionName));
}

std::string DescribeAttention(const Operands& operands) {
  const Lacking<AttentionKernel> lacking(operands);
  const std::string name = absl::StrCat("attn=", Named(lacking.kind));
  if (lacking.is_elsewhere()) {
    return WorkerCannot(absl::StrCat(name, " on ", lacking.device),
                        absl::StrCat("attn=", NamesOf(lacking.here, AttentionKernelName),
                                     " there, both on ", lacking.other_device));
  }
  return WorkerCannot(name, NamesOf(lacking.anywhere, AttentionKernelName));
}

std::string DescribeNorm(const Operands& operands) {
  const auto norm = static_cast<NormKernel>(operands.value);
  return WorkerCannot(
      absl::StrCat("norm=", std::string(NormKernelName(norm))),
      absl::StrCat("norm=", NamesOf(EnumSet<NormKernel>::FromBits(operands.divisor),
                                    NormKernelName)));
}

}  // namespace meshwright::planner
