// Rules about what the layers of a program can run: parts of a model, number formats and kernels
// (planner/profile/kernel_support.h). Each function returns whether the layout breaks its rule
// (planner/rules/rule.h). The rules' sentences say what would be accepted instead.
#pragma once

#include <string>

#include "planner/containers/enum_set.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// Returns whether `device` lacks `kind`. An empty set of kinds means that the device has all kinds.
// Operands::divisor gets the kinds of both devices, so that the sentence can say whether the other
// device has `kind`.
template <typename Kind>
bool Lacks(Kind kind, DeviceKind device, const EnumSet<Kind>& on_cpu, const EnumSet<Kind>& on_cuda,
           Operands& operands) {
  const EnumSet<Kind>& here = device == DeviceKind::kCpu ? on_cpu : on_cuda;
  if (here.empty() || here.Has(kind)) return false;
  operands = {.value = static_cast<int64_t>(kind),
              .divisor = on_cpu.bits() | on_cuda.bits(),
              .more = {here.bits(), static_cast<int64_t>(device), 0}};
  return true;
}

inline bool LacksFfn(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  const EnumSet<FfnKind> has = input.profile.supports.kernels.ffn;
  if (has.empty()) return false;
  return AnyGroup(input, [&](const LayerGroup& group) {
    return group.ffn.exists() && !has.Has(group.ffn.kind) &&
           Broken(static_cast<int64_t>(group.ffn.kind), has.bits(), operands);
  });
}

inline bool LacksQkNorm(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  if (input.profile.supports.kernels.qk_norm) return false;
  return AnyGroup(input, [&](const LayerGroup& group) {
    return group.attention.qk_norm && Broken(1, 0, operands);
  });
}

// Where a part of the model can run, if it can't run with the device and the kernel of the layout.
enum class RunsPart : int64_t { kNowhere, kOnCpu, kWithFlash2 };

inline bool LacksModelPart(const RuleInput& input, const Layout& layout, Operands& operands) {
  const KernelSupport& kernels = input.profile.supports.kernels;
  const EnumSet<ModelPart> has = kernels.parts;
  if (has.empty()) return false;
  const int64_t parts = PartsOf(input.model).bits();
  const int64_t lacking = parts & ~has.bits();
  if (lacking != 0) return Broken(lacking, has.bits(), operands);
  if (input.device != DeviceKind::kCuda) return false;
  const auto runs = [&](RunsPart where, int64_t those) {
    operands = {
        .value = those,
        .divisor = those,
        .more = {static_cast<int64_t>(where), static_cast<int64_t>(input.training.precision),
                 static_cast<int64_t>(input.profile.AttentionOf(layout))}};
    return those != 0;
  };
  if (runs(RunsPart::kOnCpu, parts & kernels.cpu_only_parts.bits())) return true;
  const bool is_flash2 = input.training.precision == Precision::kBf16 &&
                         input.profile.AttentionOf(layout) == AttentionKernel::kFlash2;
  return !is_flash2 && runs(RunsPart::kWithFlash2, parts & kernels.cuda_flash2_parts.bits());
}

inline bool LacksHeadDim(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  const int64_t multiple = input.profile.supports.kernels.head_dim_multiple;
  return AnyGroup(input, [&](const LayerGroup& group) {
    const Attention& attention = group.attention;
    return DoesNotDivide(attention.head_dim, multiple, operands) ||
           (attention.is_latent() && DoesNotDivide(attention.rotary_dim, multiple, operands));
  });
}

inline bool LacksSeveralHeadDims(const RuleInput& input, const Layout& /*layout*/,
                                 Operands& operands) {
  if (!input.profile.supports.kernels.one_head_dim) return false;
  const int64_t first = input.model.groups.front().attention.head_dim;
  return AnyGroup(input, [&](const LayerGroup& group) {
    return group.attention.head_dim != first && Broken(first, group.attention.head_dim, operands);
  });
}

// In bf16, flash2 pads the values of latent attention to the width of the keys, so only the keys'
// width counts. Other kernels must also take the width of the values.
inline bool LacksHeadDimOnCuda(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (input.device != DeviceKind::kCuda) return false;
  const AttentionKernel attention = input.profile.AttentionOf(layout);
  for (const HeadSizes& sizes : input.profile.supports.kernels.cuda_head_sizes) {
    // Quantised products do not change attention.
    const NumberFormat activations = NumberFormatsOf(sizes.precision).activations;
    if (activations != input.training.formats().activations) continue;
    if (sizes.attention.value_or(attention) != attention) continue;
    const bool fills_up =
        sizes.precision == Precision::kBf16 && attention == AttentionKernel::kFlash2;
    return AnyGroup(input, [&](const LayerGroup& group) {
      const Attention& heads = group.attention;
      const bool other_values = heads.is_latent() && !fills_up && !sizes.Take(heads.value_dim);
      const int64_t head_dim = other_values ? heads.value_dim : heads.head_dim;
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

inline bool LacksPrecision(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  const KernelSupport& has = input.profile.supports.kernels;
  return Lacks(input.training.precision, input.device, has.cpu_precisions, has.cuda_precisions,
               operands);
}

// Returns the attention kernels that the device has.
inline EnumSet<AttentionKernel> AttentionOn(const HardwareProfile& device) {
  EnumSet<AttentionKernel> kernels;
  for (const auto& [kernel, name] : kAttentionKernelNames) {
    const bool is_one = kernel != AttentionKernel::kDefault;
    if (is_one && device.AttentionRatio(kernel) > 0.0) kernels.Add(kernel);
  }
  return kernels;
}

// This rule and the next apply only to kernels that the layout names. Otherwise the framework runs
// its own kernels. If the device lacks the kernel, Operands::divisor is 0.
inline bool LacksAttention(const RuleInput& input, const Layout& layout, Operands& operands) {
  const AttentionKernel named = layout.attention;
  if (named == AttentionKernel::kDefault) return false;
  const KernelSupport& has = input.profile.supports.kernels;
  if (Lacks(named, input.device, has.cpu_attention, has.cuda_attention, operands)) return true;
  if (input.cluster == nullptr || input.cluster->device.AttentionRatio(named) > 0.0) return false;
  operands = {.value = static_cast<int64_t>(named),
              .divisor = 0,
              .more = {AttentionOn(input.cluster->device).bits(), 0, 0}};
  return true;
}

inline bool LacksNorm(const RuleInput& input, const Layout& layout, Operands& operands) {
  const EnumSet<NormKernel> has = input.profile.supports.kernels.norms;
  if (layout.norm == NormKernel::kDefault || has.empty() || has.Has(layout.norm)) return false;
  return Broken(static_cast<int64_t>(layout.norm), has.bits(), operands);
}

std::string DescribeFfn(const Operands& operands);
std::string DescribeModelPart(const Operands& operands);
std::string DescribeHeadDim(const Operands& operands);
std::string DescribeHeadDimOnCuda(const Operands& operands);
std::string DescribePrecision(const Operands& operands);
std::string DescribeAttention(const Operands& operands);
std::string DescribeNorm(const Operands& operands);

}  // namespace meshwright::planner
