#include "planner/profile/framework_profile.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

absl::Status CheckBetween(std::string_view field, double value, double high) {
  if (value >= 0 && value <= high) return absl::OkStatus();
  return FieldError(field, absl::StrCat(value), absl::StrCat("must be from 0 to ", high));
}

absl::Status Check(const ModelStates& states) {
  RETURN_IF_ERROR(CheckRange("gradient_bytes", states.gradient_bytes, 1, 16));
  RETURN_IF_ERROR(CheckRange("optimizer_bytes", states.optimizer_bytes, 4, 64));
  RETURN_IF_ERROR(CheckRange("local_gradient_bytes", states.local_gradient_bytes, 0, 16));
  RETURN_IF_ERROR(CheckRange("shard_buffer_bytes", states.shard_buffer_bytes, 0, 16));
  RETURN_IF_ERROR(CheckRange("zero3_state_bytes", states.zero3_state_bytes, 4, 64));
  RETURN_IF_ERROR(
      CheckBetween("step_bytes_per_owned_parameter", states.step_bytes_per_owned_parameter, 64));
  RETURN_IF_ERROR(
      CheckRange("step_group_parameters", states.step_group_parameters, 0, int64_t{1} << 40));
  return CheckBetween("step_bytes_per_parameter", states.step_bytes_per_parameter, 64);
}

absl::Status Check(const KeptActivations& kept) {
  RETURN_IF_ERROR(CheckPositive("loss_peak_bytes_per_logit", kept.loss_peak_bytes_per_logit));
  RETURN_IF_ERROR(CheckBetween("loss_peak_bytes_per_logit", kept.loss_peak_bytes_per_logit, 256));
  RETURN_IF_ERROR(CheckBetween("parallel_loss_peak_bytes_per_logit",
                               kept.parallel_loss_peak_bytes_per_logit, 256));
  RETURN_IF_ERROR(CheckBetween("loss_kept_bytes_per_logit", kept.loss_kept_bytes_per_logit, 256));
  RETURN_IF_ERROR(CheckBetween("eager_norm_bytes", kept.eager_norm_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("extra_kept_bytes", kept.extra_kept_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("fused_softmax_bytes", kept.fused_softmax_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("eager_attention_bytes", kept.eager_attention_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("hidden_work_bytes", kept.hidden_work_bytes, 256));
  RETURN_IF_ERROR(CheckBetween("ffn_work_bytes", kept.ffn_work_bytes, 256));
  RETURN_IF_ERROR(CheckBetween("score_work_bytes", kept.score_work_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("fragmentation", kept.fragmentation, 1));
  RETURN_IF_ERROR(CheckBetween("graph_pool_share", kept.graph_pool_share, 2));
  RETURN_IF_ERROR(CheckBetween("oom_center", kept.oom_center, 2));
  RETURN_IF_ERROR(CheckPositive("oom_width", kept.oom_width));
  RETURN_IF_ERROR(CheckPositive("peak_sigma", kept.peak_sigma));
  RETURN_IF_ERROR(CheckRange("fixed_bytes", kept.fixed_bytes, 0, int64_t{1} << 40));
  RETURN_IF_ERROR(CheckBetween("pressure_from", kept.pressure_from, 2));
  return CheckBetween("pressure_slope", kept.pressure_slope, 10);
}

absl::Status Check(const OperatorTraffic& traffic) {
  RETURN_IF_ERROR(CheckBetween("eager_norm_traffic_bytes", traffic.eager_norm_traffic_bytes, 1000));
  RETURN_IF_ERROR(
      CheckBetween("fused_softmax_traffic_bytes", traffic.fused_softmax_traffic_bytes, 1000));
  RETURN_IF_ERROR(
      CheckBetween("eager_attention_traffic_bytes", traffic.eager_attention_traffic_bytes, 1000));
  RETURN_IF_ERROR(CheckBetween("loss_traffic_bytes", traffic.loss_traffic_bytes, 1000));
  RETURN_IF_ERROR(CheckBetween("rope_traffic_bytes", traffic.rope_traffic_bytes, 1000));
  RETURN_IF_ERROR(CheckBetween("accumulate_traffic_bytes", traffic.accumulate_traffic_bytes, 100));
  RETURN_IF_ERROR(
      CheckBetween("expert_bias_traffic_bytes", traffic.expert_bias_traffic_bytes, 1000));
  RETURN_IF_ERROR(CheckPositive("matmul_share", traffic.matmul_share));
  RETURN_IF_ERROR(CheckBetween("step_overhead_s", traffic.step_overhead_s, 1000));
  RETURN_IF_ERROR(CheckBetween("operator_host_s", traffic.operator_host_s, 0.1));
  RETURN_IF_ERROR(CheckBetween("step_time_sigma", traffic.step_time_sigma, 2));
  RETURN_IF_ERROR(CheckBetween("recurrence_ratio", traffic.recurrence_ratio, 100));
  RETURN_IF_ERROR(CheckBetween("expert_load_spread", traffic.expert_load_spread, 10));
  RETURN_IF_ERROR(CheckBetween("host_share", traffic.host_share, 100));
  return CheckBetween("expert_launch_s", traffic.expert_launch_s, 0.1);
}

absl::Status Check(const Communication& communication) {
  RETURN_IF_ERROR(CheckBetween("data_parallel_overlap", communication.data_parallel_overlap, 1));
  RETURN_IF_ERROR(CheckBetween("all_reduce_overlap", communication.all_reduce_overlap, 1));
  RETURN_IF_ERROR(CheckBetween("all_to_all_overlap", communication.all_to_all_overlap, 1));
  RETURN_IF_ERROR(
      CheckBetween("all_to_all_overlap_across", communication.all_to_all_overlap_across, 1));
  RETURN_IF_ERROR(
      CheckBetween("tensor_parallel_overlap", communication.tensor_parallel_overlap, 1));
  RETURN_IF_ERROR(CheckBetween("reduce_bytes", communication.reduce_bytes, 8));
  RETURN_IF_ERROR(CheckRange("ring_gradient_bytes", communication.ring_gradient_bytes, 1, 8));
  RETURN_IF_ERROR(CheckPositive("network_share", communication.network_share));
  RETURN_IF_ERROR(CheckBetween("network_contention", communication.network_contention, 2));
  RETURN_IF_ERROR(CheckBetween("all_reduces_per_layer", communication.all_reduces_per_layer, 100));
  RETURN_IF_ERROR(
      CheckBetween("shard_collectives_per_layer", communication.shard_collectives_per_layer, 100));
  RETURN_IF_ERROR(CheckBetween("network_step_s", communication.network_step_s, 1));
  RETURN_IF_ERROR(CheckBetween("tp_hop_s", communication.tp_hop_s, 10));
  return CheckBetween("pipeline_hop_s", communication.pipeline_hop_s, 10);
}

absl::Status Check(const KernelSupport& kernels) {
  constexpr int64_t kMost = 1 << 20;
  RETURN_IF_ERROR(CheckRange("head_dim_multiple", kernels.head_dim_multiple, 1, kMost));
  for (size_t i = 0; i < kernels.cuda_head_sizes.size(); ++i) {
    const HeadSizes& sizes = kernels.cuda_head_sizes[i];
    const std::string path = absl::StrCat("cuda_head_sizes[", i, "].");
    RETURN_IF_ERROR(CheckRange(path + "multiple_of", sizes.multiple_of, 1, kMost));
    RETURN_IF_ERROR(CheckRange(path + "most", sizes.most.value_or(1), 1, kMost));
  }
  RETURN_IF_ERROR(CheckRange("max_cp", kernels.max_cp, 0, kMost));
  return CheckRange("max_vpp", kernels.max_vpp, 0, kMost);
}

absl::Status Check(const Supports& supports) {
  RETURN_IF_ERROR(CheckRange("max_zero", supports.max_zero, 0, 3));
  RETURN_IF_ERROR(CheckRange("unsaid_zero", supports.unsaid_zero, 0, supports.max_zero));
  RETURN_IF_ERROR(CheckRange("min_zero", supports.min_zero, 0, supports.max_zero));
  RETURN_IF_ERROR(CheckRange("vocab_multiple", supports.vocab_multiple, 0, 1 << 16));
  return Check(supports.kernels);
}

}  // namespace

absl::Status Validate(const FrameworkProfile& profile) {
  if (profile.name.empty()) return FieldError("name", profile.name, "must not be empty");
  RETURN_IF_ERROR(Check(profile.states));
  RETURN_IF_ERROR(Check(profile.kept));
  RETURN_IF_ERROR(Check(profile.traffic));
  RETURN_IF_ERROR(Check(profile.communication));
  const MeshOrder& order = profile.communication.mesh_order;
  if (profile.engine == Engine::kWorker && order != kDefaultMeshOrder) {
    return FieldError("mesh_order", FormatMeshOrder(order),
                      "is not that of Meshwright's worker, " + FormatMeshOrder(kDefaultMeshOrder));
  }
  return Check(profile.supports);
}

}  // namespace meshwright::planner
