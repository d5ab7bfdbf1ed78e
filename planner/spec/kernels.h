// AttentionKernel and NormKernel name the kernels that frameworks choose from.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"

namespace meshwright::planner {

// kDefault stands for the framework profile's kernel. kSdpa is PyTorch's
// scaled_dot_product_attention, which picks cuDNN's kernel or FlashAttention-2
// (planner/profile/attention_default.h). kFusedSoftmax writes out the score matrix, and scales,
// masks and normalises it in one kernel. kEager runs a separate kernel for each of these steps.
enum class AttentionKernel : uint8_t {
  kDefault,
  kFlash4,
  kFlash3,
  kFlash2,
  kFlash1,
  kCudnn,
  kSdpa,
  kFusedSoftmax,
  kEager
};
enum class NormKernel : uint8_t { kDefault, kFused, kEager };

// In both tables the default comes first. A condition of a search (planner/layout/condition.h) may
// say "default"; a layout's text leaves the key out instead.
inline constexpr EnumNames<AttentionKernel, 9> kAttentionKernelNames = {{
    {AttentionKernel::kDefault, "default"},
    {AttentionKernel::kFlash4, "flash4"},
    {AttentionKernel::kFlash3, "flash3"},
    {AttentionKernel::kFlash2, "flash2"},
    {AttentionKernel::kFlash1, "flash1"},
    {AttentionKernel::kCudnn, "cudnn"},
    {AttentionKernel::kSdpa, "sdpa"},
    {AttentionKernel::kFusedSoftmax, "fused_softmax"},
    {AttentionKernel::kEager, "eager"},
}};

inline constexpr EnumNames<NormKernel, 3> kNormKernelNames = {{
    {NormKernel::kDefault, "default"},
    {NormKernel::kFused, "fused"},
    {NormKernel::kEager, "eager"},
}};

std::string_view AttentionKernelName(AttentionKernel kernel);  // "" for kDefault
std::string_view NormKernelName(NormKernel kernel);            // "" for kDefault

// Each parses the name of a kernel. Each returns InvalidArgument naming `attn` or `norm`, with the
// accepted names, for any other text.
absl::StatusOr<AttentionKernel> ParseAttentionKernel(std::string_view text);
absl::StatusOr<NormKernel> ParseNormKernel(std::string_view text);

}  // namespace meshwright::planner
