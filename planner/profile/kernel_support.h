// KernelSupport lists what the layers and kernels of a program can run. Only the profile of
// Meshwright's worker gives it. The profiles of other frameworks leave it empty, so no layout of
// theirs is rejected because of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/containers/enum_set.h"
#include "planner/profile/model_part.h"
#include "planner/spec/kernels.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The head sizes that attention on a GPU takes in one precision.
struct HeadSizes {
  Precision precision = Precision::kBf16;
  std::optional<AttentionKernel> attention;  // nullopt: any kernel
  int64_t multiple_of = 1;
  std::optional<int64_t> most;

  bool Take(int64_t head_dim) const {
    return head_dim % multiple_of == 0 && head_dim <= most.value_or(head_dim);
  }

  friend bool operator==(const HeadSizes&, const HeadSizes&) = default;
};

// An empty set and a maximum of 0 limit nothing.
struct KernelSupport {
  EnumSet<FfnKind> ffn;
  bool qk_norm = true;
  EnumSet<ModelPart> parts;
  EnumSet<ModelPart> cpu_only_parts;     // a subset of `parts`
  EnumSet<ModelPart> cuda_flash2_parts;  // a subset of `parts`; on CUDA they need bf16 and flash2
  int64_t head_dim_multiple = 1;
  bool one_head_dim = false;  // whether all layers must have heads of one size
  EnumSet<Precision> cpu_precisions;
  EnumSet<Precision> cuda_precisions;
  // The kernels that a layout may name.
  EnumSet<AttentionKernel> cpu_attention;
  EnumSet<AttentionKernel> cuda_attention;
  EnumSet<NormKernel> norms;
  // The first entry for a precision and a kernel applies. If there is none, every size is accepted.
  std::vector<HeadSizes> cuda_head_sizes;
  int32_t max_cp = 0;
  int32_t max_vpp = 0;

  friend bool operator==(const KernelSupport&, const KernelSupport&) = default;
};

}  // namespace meshwright::planner
