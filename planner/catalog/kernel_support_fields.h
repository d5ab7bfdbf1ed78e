// The fields of KernelSupport (planner/codec/fields.h), in addition to a profile's own. The keys
// are present only where they limit something.
#pragma once

#include "planner/catalog/spec_fields.h"
#include "planner/codec/fields.h"
#include "planner/profile/kernel_support.h"
#include "planner/spec/kernels.h"

namespace meshwright::planner {

inline constexpr TextForm kAttentionText{&AttentionKernelName, &ParseAttentionKernel};
inline constexpr TextForm kModelPartText{&ModelPartName, &ParseModelPart};
inline constexpr TextForm kNormText{&NormKernelName, &ParseNormKernel};

template <ConstOr<HeadSizes> Sizes, typename Visitor>
void VisitFields(Sizes& sizes, Visitor& visit) {
  visit(Needed("precision"), sizes.precision, kPrecisionText);
  visit("attention", sizes.attention, kAttentionText);
  visit("multiple_of", sizes.multiple_of);
  visit("most", sizes.most);
}

template <ConstOr<KernelSupport> Kernels, typename Visitor>
void VisitFields(Kernels& kernels, Visitor& visit) {
  visit(OnlyIf(!kernels.ffn.empty(), "ffn_kinds"), kernels.ffn, kFfnKindNames);
  visit(OnlyIf(!kernels.qk_norm, "has_qk_norm"), kernels.qk_norm);
  visit(OnlyIf(!kernels.parts.empty(), "model_parts"), kernels.parts, kModelPartText);
  visit(OnlyIf(!kernels.cpu_only_parts.empty(), "cpu_only_parts"), kernels.cpu_only_parts,
        kModelPartText);
  visit(OnlyIf(!kernels.cuda_flash2_parts.empty(), "cuda_flash2_parts"), kernels.cuda_flash2_parts,
        kModelPartText);
  visit(OnlyIf(kernels.head_dim_multiple != 1, "head_dim_multiple"), kernels.head_dim_multiple);
  visit(OnlyIf(kernels.one_head_dim, "one_head_dim"), kernels.one_head_dim);
  visit(OnlyIf(!kernels.cpu_precisions.empty(), "cpu_precisions"), kernels.cpu_precisions,
        kPrecisionText);
  visit(OnlyIf(!kernels.cuda_precisions.empty(), "cuda_precisions"), kernels.cuda_precisions,
        kPrecisionText);
  visit(OnlyIf(!kernels.cpu_attention.empty(), "cpu_attention"), kernels.cpu_attention,
        kAttentionText);
  visit(OnlyIf(!kernels.cuda_attention.empty(), "cuda_attention"), kernels.cuda_attention,
        kAttentionText);
  visit(OnlyIf(!kernels.norms.empty(), "norms"), kernels.norms, kNormText);
  visit(OnlyIf(!kernels.cuda_head_sizes.empty(), "cuda_head_sizes"), kernels.cuda_head_sizes);
  visit(OnlyIf(kernels.max_cp != 0, "max_cp"), kernels.max_cp);
  visit(OnlyIf(kernels.max_vpp != 0, "max_vpp"), kernels.max_vpp);
}

}  // namespace meshwright::planner
