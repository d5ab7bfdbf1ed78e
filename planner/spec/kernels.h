// The kernels that frameworks choose from for attention and for norms.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"

namespace meshwright::planner {

// kDefault: the framework profile's. kFusedSoftmax writes out the score matrix and scales, masks
// and normalises it in one kernel; kEager in a kernel each.
enum class AttentionKernel : uint8_t {
  kDefault,
  kFlash3,
  kFlash2,
  kFlash1,
  kCudnn,
  kFusedSoftmax,
  kEager
};
enum class NormKernel : uint8_t { kDefault, kFused, kEager };

// The default comes first; no text of a user's names it but a condition's.
inline constexpr EnumNames<AttentionKernel, 7> kAttentionKernelNames = {{
    {AttentionKernel::kDefault, "default"},
    {AttentionKernel::kFlash3, "flash3"},
    {AttentionKernel::kFlash2, "flash2"},
    {AttentionKernel::kFlash1, "flash1"},
    {AttentionKernel::kCudnn, "cudnn"},
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

// InvalidArgument names what is accepted.
absl::StatusOr<AttentionKernel> ParseAttentionKernel(std::string_view text);
absl::StatusOr<NormKernel> ParseNormKernel(std::string_view text);

}  // namespace meshwright::planner
