// Lists the fields of a framework profile (planner/codec/fields.h). A profile's file is flat: a
// member's name is a key of the file, whichever struct holds the member.
#pragma once

#include <type_traits>

#include "base/text/enum_names.h"
#include "planner/catalog/calibration_fields.h"
#include "planner/catalog/spec_fields.h"
#include "planner/codec/fields.h"
#include "planner/profile/framework_profile.h"
#include "planner/profile/kernel_support.h"
#include "planner/spec/kernels.h"

namespace meshwright::planner {

inline constexpr EnumNames<GatheredInputs, 3> kGatheredInputsNames = {{
    {GatheredInputs::kNever, "never"},
    {GatheredInputs::kWithoutPipeline, "without_pipeline"},
    {GatheredInputs::kAlways, "always"},
}};
inline constexpr EnumNames<SelectiveRecompute, 3> kSelectiveRecomputeNames = {{
    {SelectiveRecompute::kCoreAttention, "core_attention"},
    {SelectiveRecompute::kNormsAndActivation, "norms_and_activation"},
    {SelectiveRecompute::kAlternateProducts, "alternate_products"},
}};
inline constexpr EnumNames<StagePartition, 3> kStagePartitionNames = {{
    {StagePartition::kEqual, "equal"},
    {StagePartition::kItems, "items"},
    {StagePartition::kByCost, "by_cost"},
}};
inline constexpr EnumNames<PeakRank, 3> kPeakRankNames = {{
    {PeakRank::kFullest, "fullest"},
    {PeakRank::kFirst, "first"},
    {PeakRank::kLast, "last"},
}};
inline constexpr EnumNames<PeakKind, 2> kPeakKindNames = {{
    {PeakKind::kAllocated, "allocated"},
    {PeakKind::kReserved, "reserved"},
}};
inline constexpr TextForm kMeshOrderText{&FormatMeshOrder, &ParseMeshOrder};
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

// Each of these keys is present only if it limits something.
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

template <ConstOr<ModelStates> Struct, typename Visitor>
void VisitFields(Struct& states, Visitor& visit) {
  visit("gradient_bytes", states.gradient_bytes);
  visit("optimizer_bytes", states.optimizer_bytes);
  visit("local_gradient_bytes", states.local_gradient_bytes);
  visit("shard_buffer_bytes", states.shard_buffer_bytes);
  visit("zero3_state_bytes", states.zero3_state_bytes);
  visit(OnlyIf(states.zero3_live_parameters > 0, "zero3_live_parameters"),
        states.zero3_live_parameters);
  visit(OnlyIf(states.zero3_pipeline_bytes > 0, "zero3_pipeline_bytes"),
        states.zero3_pipeline_bytes);
  visit(OnlyIf(states.narrow_weights_alone, "narrow_weights_alone"), states.narrow_weights_alone);
  visit(OnlyIf(states.host_copy_bytes > 0, "host_copy_bytes"), states.host_copy_bytes);
  visit(OnlyIf(states.zero2_bucket_bytes > 0, "zero2_bucket_bytes"), states.zero2_bucket_bytes);
  visit("step_bytes_per_parameter", states.step_bytes_per_parameter);
  visit(OnlyIf(states.step_bytes_per_owned_parameter > 0.0, "step_bytes_per_owned_parameter"),
        states.step_bytes_per_owned_parameter);
  visit(OnlyIf(states.step_group_parameters > 0, "step_group_parameters"),
        states.step_group_parameters);
}

template <ConstOr<KeptActivations> Struct, typename Visitor>
void VisitFields(Struct& kept, Visitor& visit) {
  visit("vocab_parallel_loss", kept.vocab_parallel_loss);
  visit("loss_peak_bytes_per_logit", kept.loss_peak_bytes_per_logit);
  visit("loss_kept_bytes_per_logit", kept.loss_kept_bytes_per_logit);
  visit(
      OnlyIf(kept.parallel_loss_peak_bytes_per_logit != 0.0, "parallel_loss_peak_bytes_per_logit"),
      kept.parallel_loss_peak_bytes_per_logit);
  visit("selective_recompute", kept.selective_recompute, kSelectiveRecomputeNames);
  visit("gathered_inputs", kept.gathered_inputs, kGatheredInputsNames);
  visit("fused_swiglu", kept.fused_swiglu);
  visit("keeps_ffn_product", kept.keeps_ffn_product);
  visit("keeps_head_norm_input", kept.keeps_head_norm_input);
  visit(OnlyIf(kept.recompute_stops_early, "recompute_stops_early"), kept.recompute_stops_early);
  visit(OnlyIf(!kept.keeps_assembled_keys, "keeps_assembled_keys"), kept.keeps_assembled_keys);
  visit("routing_bytes", kept.routing_bytes);
  visit("keeps_expert_output", kept.keeps_expert_output);
  visit("eager_norm_bytes", kept.eager_norm_bytes);
  visit("extra_kept_bytes", kept.extra_kept_bytes);
  visit("fused_softmax_bytes", kept.fused_softmax_bytes);
  visit("eager_attention_bytes", kept.eager_attention_bytes);
  visit("hidden_work_bytes", kept.hidden_work_bytes);
  visit("ffn_work_bytes", kept.ffn_work_bytes);
  visit("score_work_bytes", kept.score_work_bytes);
  visit("fixed_bytes", kept.fixed_bytes);
  visit("peak_rank", kept.peak_rank, kPeakRankNames);
  visit("peak_kind", kept.peak_kind, kPeakKindNames);
  visit("fragmentation", kept.fragmentation);
  visit(OnlyIf(kept.graph_pool_share > 0.0, "graph_pool_share"), kept.graph_pool_share);
  visit("pressure_from", kept.pressure_from);
  visit("pressure_slope", kept.pressure_slope);
  visit("oom_center", kept.oom_center);
  visit("oom_width", kept.oom_width);
  visit("peak_sigma", kept.peak_sigma);
}

template <ConstOr<OperatorTraffic> Struct, typename Visitor>
void VisitFields(Struct& traffic, Visitor& visit) {
  visit("matmul_share", traffic.matmul_share);
  visit("eager_norm_traffic_bytes", traffic.eager_norm_traffic_bytes);
  visit("fused_softmax_traffic_bytes", traffic.fused_softmax_traffic_bytes);
  visit("eager_attention_traffic_bytes", traffic.eager_attention_traffic_bytes);
  visit("loss_traffic_bytes", traffic.loss_traffic_bytes);
  visit("rope_traffic_bytes", traffic.rope_traffic_bytes);
  visit("accumulate_traffic_bytes", traffic.accumulate_traffic_bytes);
  visit("expert_bias_traffic_bytes", traffic.expert_bias_traffic_bytes);
  visit("recurrence_ratio", traffic.recurrence_ratio);
  visit("expert_load_spread", traffic.expert_load_spread);
  visit("operator_host_s", traffic.operator_host_s);
  visit("host_share", traffic.host_share);
  visit("expert_launch_s", traffic.expert_launch_s);
  visit("step_overhead_s", traffic.step_overhead_s);
  visit("step_time_sigma", traffic.step_time_sigma);
}

template <ConstOr<Communication> Struct, typename Visitor>
void VisitFields(Struct& communication, Visitor& visit) {
  // Files name an order only if it differs from the default.
  visit(OnlyIf(communication.mesh_order != kDefaultMeshOrder, "mesh_order"),
        communication.mesh_order, kMeshOrderText);
  visit("data_parallel_overlap", communication.data_parallel_overlap);
  visit("all_reduce_overlap", communication.all_reduce_overlap);
  visit("all_reduces_per_layer", communication.all_reduces_per_layer);
  visit("shard_collectives_per_layer", communication.shard_collectives_per_layer);
  visit("reduce_bytes", communication.reduce_bytes);
  visit("ring_gradient_bytes", communication.ring_gradient_bytes);
  visit("zero1_all_reduce", communication.zero1_all_reduce);
  visit("reduces_interleaved_groups", communication.reduces_interleaved_groups);
  visit("network_share", communication.network_share);
  visit("network_contention", communication.network_contention);
  visit("network_step_s", communication.network_step_s);
  visit("tree_all_reduce", communication.tree_all_reduce);
  visit("deduplicates_tokens", communication.deduplicates_tokens);
  visit("all_to_all_overlap", communication.all_to_all_overlap);
  visit("all_to_all_overlap_across", communication.all_to_all_overlap_across);
  visit(OnlyIf(!communication.balanced_ring, "balanced_ring"), communication.balanced_ring);
  visit("tensor_parallel_overlap", communication.tensor_parallel_overlap);
  visit("tp_hop_s", communication.tp_hop_s);
  visit("pipeline_hop_s", communication.pipeline_hop_s);
}

template <ConstOr<Supports> Struct, typename Visitor>
void VisitFields(Struct& supports, Visitor& visit) {
  visit("stage_partition", supports.stage_partition, kStagePartitionNames);
  visit("attention", supports.attention, kAttentionText);
  visit(OnlyIf(supports.picks_fastest_attention, "picks_fastest_attention"),
        supports.picks_fastest_attention);
  visit("norm", supports.norm, kNormText);
  visit("gated_mlp", supports.gated_mlp);
  visit("tied_embeddings", supports.tied_embeddings);
  visit("unsaid_zero", supports.unsaid_zero);
  visit("max_zero", supports.max_zero);
  visit(OnlyIf(!supports.has_tensor_parallel, "has_tensor_parallel"), supports.has_tensor_parallel);
  visit("has_sequence_parallel", supports.has_sequence_parallel);
  visit("has_context_parallel", supports.has_context_parallel);
  visit(OnlyIf(!supports.has_pipeline, "has_pipeline"), supports.has_pipeline);
  visit("has_interleaving", supports.has_interleaving);
  visit("has_breadth_first", supports.has_breadth_first);
  visit("has_zb_h1", supports.has_zb_h1);
  visit("has_zb_v", supports.has_zb_v);
  visit(OnlyIf(supports.has_zb_h2, "has_zb_h2"), supports.has_zb_h2);
  visit(OnlyIf(supports.has_v_half, "has_v_half"), supports.has_v_half);
  visit(OnlyIf(supports.has_vocab_parallel, "has_vocab_parallel"), supports.has_vocab_parallel);
  visit("layered_accumulation", supports.layered_accumulation);
  visit("has_recompute", supports.has_recompute);
  visit("has_block_recompute", supports.has_block_recompute);
  visit(OnlyIf(!supports.recompute_modules.empty(), "recompute_modules"),
        supports.recompute_modules, kRecomputeModuleNames);
  visit("has_hsdp", supports.has_hsdp);
  visit("has_stages", supports.has_stages);
  visit("has_fp8", supports.has_fp8);
  visit("has_experts", supports.has_experts);
  visit(OnlyIf(!supports.has_expert_parallel, "has_expert_parallel"), supports.has_expert_parallel);
  visit(OnlyIf(!supports.has_expert_tensor_parallel, "has_expert_tensor_parallel"),
        supports.has_expert_tensor_parallel);
  visit(OnlyIf(supports.etp_follows_tp, "etp_follows_tp"), supports.etp_follows_tp);
  visit("has_muon", supports.has_muon);
  visit("has_activation_offload", supports.has_activation_offload);
  visit("activation_offload_with_pipeline", supports.activation_offload_with_pipeline);
  visit("activation_offload_with_recompute", supports.activation_offload_with_recompute);
  visit(OnlyIf(supports.offloads_layer_inputs, "offloads_layer_inputs"),
        supports.offloads_layer_inputs);
  visit("has_optimizer_offload", supports.has_optimizer_offload);
  visit(OnlyIf(supports.has_parameter_offload, "has_parameter_offload"),
        supports.has_parameter_offload);
  visit(OnlyIf(supports.has_gradient_offload, "has_gradient_offload"),
        supports.has_gradient_offload);
  visit("tp_needs_sequence_parallel", supports.tp_needs_sequence_parallel);
  visit("min_zero", supports.min_zero);
  visit("zero23_with_pipeline", supports.zero23_with_pipeline);
  visit(OnlyIf(!supports.zero3_with_tp, "zero3_with_tp"), supports.zero3_with_tp);
  visit("kv_replication", supports.kv_replication);
  visit("vocab_multiple", supports.vocab_multiple);
  visit(Inside("kernels"), supports.kernels);
}

template <ConstOr<FrameworkProfile> Profile, typename Visitor>
void VisitFields(Profile& profile, Visitor& visit) {
  visit(Needed("name"), profile.name);
  visit("aliases", profile.aliases);
  visit("notes_contain", profile.notes_contain);
  visit(OnlyIf(!profile.rows.empty(), "rows"), profile.rows);
  visit(OnlyIf(!profile.variants.empty(), "variants"), profile.variants);
  visit(Inside("states"), profile.states);
  visit(Inside("kept"), profile.kept);
  bool is_worker = profile.engine == Engine::kWorker;
  visit("worker_allocations", is_worker);
  if constexpr (!std::is_const_v<Profile>) {
    profile.engine = is_worker ? Engine::kWorker : Engine::kFramework;
  }
  visit(Inside("traffic"), profile.traffic);
  visit(Inside("communication"), profile.communication);
  visit(Inside("supports"), profile.supports);
  visit(CalibrationKey(profile.calibration), profile.calibration);
  visit("sources", profile.sources);
}

}  // namespace meshwright::planner
