#include "planner/profile/layer_shape.h"

#include <cmath>

#include "planner/block/tower_operators.h"
#include "planner/spec/expected_maximum.h"

namespace meshwright::planner {
namespace {

// Un-fused backward passes read the saved intermediates again.
constexpr double kEagerBackwardRatio = 1.5;

// Returns the tokens that the fullest rank's experts take, over those of an average rank. A rank's
// experts together spread less than one expert does, and all ranks wait for the fullest of `ep`.
double ExpertLoad(const FrameworkProfile& profile, const TrainingSpec& training,
                  const BlockShape& shape) {
  const double spread = profile.traffic.expert_load_spread;
  if (training.expert_load > 1.0 || spread == 0.0 || !shape.has_experts()) {
    return training.expert_load;
  }
  const auto experts = static_cast<double>(shape.rank_experts());
  return 1.0 + spread / std::sqrt(experts) * ExpectedMaximum(shape.ep);
}

// Flash kernels never write the scores out.
void SetScores(const FrameworkProfile& profile, BlockShape& shape) {
  switch (shape.attention) {
    case AttentionKernel::kFusedSoftmax:
      shape.score_bytes = profile.kept.fused_softmax_bytes;
      shape.score_traffic_bytes = profile.traffic.fused_softmax_traffic_bytes;
      return;
    case AttentionKernel::kEager:
      shape.score_bytes = profile.kept.eager_attention_bytes;
      shape.score_traffic_bytes = profile.traffic.eager_attention_traffic_bytes;
      return;
    default:
      return;
  }
}

// The fused softmax is Megatron's kernel, which works on four matrices of scores at a time. Without
// it Megatron runs the softmax operator by operator (fused_softmax.py, is_kernel_available).
AttentionKernel RunnableAttention(AttentionKernel kernel, const Layout& layout,
                                  const BlockShape& shape) {
  constexpr int64_t kMatricesAtATime = 4;
  const int64_t matrices = layout.micro_batch * (shape.heads / layout.tp);
  const bool fuses = matrices % kMatricesAtATime == 0;
  return kernel == AttentionKernel::kFusedSoftmax && !fuses ? AttentionKernel::kEager : kernel;
}

void SetNorms(const FrameworkProfile& profile, NormKernel kernel, BlockShape& shape) {
  if (kernel != NormKernel::kEager) return;
  shape.norm_extra_bytes = profile.kept.eager_norm_bytes;
  shape.norm_traffic_bytes = profile.traffic.eager_norm_traffic_bytes;
  shape.norm_backward_traffic_bytes =
      kEagerBackwardRatio * profile.traffic.eager_norm_traffic_bytes;
}

// Sets the attention kernel, and the tensors that the framework's kernels keep and stream.
void SetKernels(const FrameworkProfile& profile, const Layout& layout, BlockShape& shape) {
  shape.fused_swiglu = profile.kept.fused_swiglu;
  shape.keeps_ffn_product = profile.kept.keeps_ffn_product;
  shape.keeps_head_norm_input = profile.kept.keeps_head_norm_input;
  shape.extra_bytes = profile.kept.extra_kept_bytes;
  shape.selective_drops_operators =
      profile.kept.selective_recompute == SelectiveRecompute::kNormsAndActivation;
  shape.selective_alternates_products =
      profile.kept.selective_recompute == SelectiveRecompute::kAlternateProducts;
  shape.recompute_stops_early = profile.kept.recompute_stops_early;
  shape.attention = RunnableAttention(profile.AttentionOf(layout), layout, shape);
  shape.rope_traffic_bytes = profile.traffic.rope_traffic_bytes;
  shape.accumulate_traffic_bytes = profile.traffic.accumulate_traffic_bytes;
  SetScores(profile, shape);
  SetNorms(profile, profile.NormOf(layout), shape);
}

}  // namespace

BlockShape LayerShape(const EstimateContext& context, const Layout& layout, const LayerGroup& group,
                      UnitTraining layer) {
  const FrameworkProfile& profile = context.profile;
  const TrainingSpec& training = context.training;
  BlockShape shape = WholeShape(context.model, group, training.seq_len);
  shape.tokens = training.seq_len / layout.cp * layout.micro_batch;
  shape.element_bytes = BytesOf(training.formats().activations);
  shape.quantisation = training.quantisation();
  shape.worker_quantises = profile.engine == Engine::kWorker && shape.quantisation.narrows();
  shape.cpu_operators = context.cluster.device_kind() == DeviceKind::kCpu;
  shape.tp = layout.tp;
  shape.cp = layout.cp;
  // The division of experts does not change layers without experts.
  if (group.ffn.has_experts()) {
    shape.ep = layout.ep;
    shape.etp = layout.etp;
  }
  shape.expert_load = ExpertLoad(profile, training, shape);
  shape.recurrence_ratio = profile.traffic.recurrence_ratio;
  shape.routing_bytes = profile.kept.routing_bytes;
  shape.keeps_expert_output = profile.kept.keeps_expert_output;
  shape.sequence_parallel = layout.sequence_parallel;
  shape.keeps_gathered_inputs = profile.KeepsGatheredInputs(layout);
  shape.keeps_assembled_keys = profile.kept.keeps_assembled_keys;
  shape.ring_gradient_bytes = profile.communication.ring_gradient_bytes;
  shape.vocab_parts = VocabRanks(layout) / layout.tp;
  shape.vocab = PaddedVocab(context, layout);
  shape.vocab_parallel_loss = profile.kept.vocab_parallel_loss;
  shape.loss_traffic_bytes = profile.traffic.loss_traffic_bytes;
  shape.loss_chunks = LossChunks(training.options, context.model.vocab, context.model.hidden);
  shape.document_tokens = AttendedDocumentTokens(training.options);
  shape.training = TrainingOf(training.options.train, layer);
  shape.expert_bias_traffic_bytes = profile.traffic.expert_bias_traffic_bytes;
  SetKernels(profile, layout, shape);
  return shape;
}

BlockShape TowerLayerShape(const EstimateContext& context, const Layout& layout,
                           const Tower& tower) {
  const int64_t media_tokens = context.training.media_tokens;
  BlockShape shape = TowerBlockShape(tower, context.training.options.train);
  shape.tokens = tower.Patches(media_tokens) * layout.micro_batch;
  shape.keys = tower.KeysSeen(media_tokens);
  shape.element_bytes = BytesOf(context.training.formats().activations);
  shape.cpu_operators = context.cluster.device_kind() == DeviceKind::kCpu;
  shape.tp = DividesTower(tower, layout.tp) ? layout.tp : 1;
  SetKernels(context.profile, layout, shape);
  return shape;
}

WorkspaceRates WorkspaceRatesOf(const FrameworkProfile& profile) {
  return {.hidden_bytes = profile.kept.hidden_work_bytes,
          .ffn_bytes = profile.kept.ffn_work_bytes,
          .score_bytes = profile.kept.score_work_bytes};
}

bool KeepsScores(const FrameworkProfile& profile, const Layout& layout) {
  BlockShape shape;
  shape.attention = profile.AttentionOf(layout);
  SetScores(profile, shape);
  return shape.score_bytes > 0;
}

int64_t VocabRanks(const Layout& layout) {
  return int64_t{layout.tp} * (DividesVocabulary(layout.schedule) ? layout.pp : 1);
}

int64_t PaddedVocab(const EstimateContext& context, const Layout& layout) {
  if (context.profile.supports.vocab_multiple == 0) return context.model.vocab;
  const int64_t multiple = context.profile.supports.vocab_multiple * VocabRanks(layout);
  return (context.model.vocab + multiple - 1) / multiple * multiple;
}

}  // namespace meshwright::planner
