// The kernels that frameworks choose from for attention and for norms.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

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

std::string_view AttentionKernelName(AttentionKernel kernel);  // "" for kDefault
std::string_view NormKernelName(NormKernel kernel);            // "" for kDefault

// InvalidArgument names what is accepted.
absl::StatusOr<AttentionKernel> ParseAttentionKernel(std::string_view text);
absl::StatusOr<NormKernel> ParseNormKernel(std::string_view text);

}  // namespace meshwright::planner
