#include "planner/spec/kernels.h"

#include <algorithm>
#include <cstddef>

namespace meshwright::planner {
namespace {

// Returns the kernel of that name among the kernels that a user can ask for: all except the first,
// which is the default.
template <typename Kernel, size_t kCount>
absl::StatusOr<Kernel> NamedKernel(const EnumNames<Kernel, kCount>& names, std::string_view key,
                                   std::string_view text) {
  EnumNames<Kernel, kCount - 1> named;
  std::copy(names.begin() + 1, names.end(), named.begin());
  return KindOf(named, key, text);
}

}  // namespace

std::string_view AttentionKernelName(AttentionKernel kernel) {
  return kernel == AttentionKernel::kDefault ? "" : NameOf(kAttentionKernelNames, kernel);
}

std::string_view NormKernelName(NormKernel kernel) {
  return kernel == NormKernel::kDefault ? "" : NameOf(kNormKernelNames, kernel);
}

absl::StatusOr<AttentionKernel> ParseAttentionKernel(std::string_view text) {
  return NamedKernel(kAttentionKernelNames, "attn", text);
}

absl::StatusOr<NormKernel> ParseNormKernel(std::string_view text) {
  return NamedKernel(kNormKernelNames, "norm", text);
}

}  // namespace meshwright::planner
