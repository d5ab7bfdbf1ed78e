#include "planner/spec/kernels.h"

#include "base/text/enum_names.h"

namespace meshwright::planner {
namespace {

constexpr EnumNames<AttentionKernel, 6> kAttentionKernels = {{
    {AttentionKernel::kFlash3, "flash3"},
    {AttentionKernel::kFlash2, "flash2"},
    {AttentionKernel::kFlash1, "flash1"},
    {AttentionKernel::kCudnn, "cudnn"},
    {AttentionKernel::kFusedSoftmax, "fused_softmax"},
    {AttentionKernel::kEager, "eager"},
}};

constexpr EnumNames<NormKernel, 2> kNormKernels = {{
    {NormKernel::kFused, "fused"},
    {NormKernel::kEager, "eager"},
}};

}  // namespace

std::string_view AttentionKernelName(AttentionKernel kernel) {
  return NameOf(kAttentionKernels, kernel);
}

std::string_view NormKernelName(NormKernel kernel) { return NameOf(kNormKernels, kernel); }

absl::StatusOr<AttentionKernel> ParseAttentionKernel(std::string_view text) {
  return KindOf(kAttentionKernels, "attn", text);
}

absl::StatusOr<NormKernel> ParseNormKernel(std::string_view text) {
  return KindOf(kNormKernels, "norm", text);
}

}  // namespace meshwright::planner
