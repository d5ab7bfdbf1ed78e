#include "planner/memory/block_dims.h"

namespace meshwright::planner {
namespace {

// Flash kernels never write the scores out.
double KeptScoreBytes(const FrameworkProfile& profile, AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::kFusedSoftmax:
      return profile.fused_softmax_bytes;
    case AttentionKernel::kEager:
      return profile.eager_attention_bytes;
    default:
      return 0.0;
  }
}

}  // namespace

BlockDims BlockDimsOf(const EstimateContext& context, const Layout& layout,
                      const LayerGroup& group) {
  const ModelSpec& model = context.model;
  return {.tokens = context.training.seq_len / layout.cp * layout.micro_batch,
          .hidden = model.hidden,
          .heads = model.heads,
          .kv_heads = model.kv_heads,
          .head_dim = model.head_dim,
          .ffn_hidden = group.ffn_hidden,
          .ffn = group.ffn,
          .element_bytes = ElementBytes(context.training.precision),
          .cpu_operators = context.cluster.physical_cores > 0,
          .tp = layout.tp,
          .sequence_parallel = layout.sequence_parallel,
          .keeps_gathered_inputs = context.profile.KeepsGatheredInputs(layout),
          .fused_swiglu = context.profile.fused_swiglu,
          .head_norm = model.qk_norm,
          .keeps_head_norm_input = context.profile.keeps_head_norm_input,
          .norm_extra_bytes = context.profile.NormOf(layout) == NormKernel::kEager
                                  ? context.profile.eager_norm_bytes
                                  : 0.0,
          .extra_bytes = context.profile.extra_kept_bytes,
          .score_bytes = KeptScoreBytes(context.profile, context.profile.AttentionOf(layout)),
          .selective_drops_operators =
              context.profile.selective_recompute == SelectiveRecompute::kNormsAndActivation,
          .keys = context.training.seq_len};
}

}  // namespace meshwright::planner
