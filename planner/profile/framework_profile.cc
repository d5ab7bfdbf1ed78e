#include "planner/profile/framework_profile.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::planner {
namespace {

absl::Status CheckBetween(std::string_view field, double value, double high) {
  if (value >= 0 && value <= high) return absl::OkStatus();
  return FieldError(field, absl::StrCat(value), absl::StrCat("must be from 0 to ", high));
}

}  // namespace

absl::Status Validate(const FrameworkProfile& profile) {
  if (profile.name.empty()) return FieldError("name", profile.name, "must not be empty");
  RETURN_IF_ERROR(CheckRange("gradient_bytes", profile.gradient_bytes, 1, 16));
  RETURN_IF_ERROR(CheckRange("optimizer_bytes", profile.optimizer_bytes, 4, 64));
  RETURN_IF_ERROR(CheckRange("local_gradient_bytes", profile.local_gradient_bytes, 0, 16));
  RETURN_IF_ERROR(CheckRange("shard_buffer_bytes", profile.shard_buffer_bytes, 0, 16));
  RETURN_IF_ERROR(CheckRange("zero3_state_bytes", profile.zero3_state_bytes, 4, 64));
  RETURN_IF_ERROR(CheckPositive("loss_peak_bytes_per_logit", profile.loss_peak_bytes_per_logit));
  RETURN_IF_ERROR(
      CheckBetween("loss_peak_bytes_per_logit", profile.loss_peak_bytes_per_logit, 256));
  RETURN_IF_ERROR(
      CheckBetween("loss_kept_bytes_per_logit", profile.loss_kept_bytes_per_logit, 256));
  RETURN_IF_ERROR(CheckBetween("step_bytes_per_parameter", profile.step_bytes_per_parameter, 64));
  RETURN_IF_ERROR(CheckBetween("eager_norm_bytes", profile.eager_norm_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("extra_kept_bytes", profile.extra_kept_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("fused_softmax_bytes", profile.fused_softmax_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("eager_attention_bytes", profile.eager_attention_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("hidden_work_bytes", profile.hidden_work_bytes, 256));
  RETURN_IF_ERROR(CheckBetween("ffn_work_bytes", profile.ffn_work_bytes, 256));
  RETURN_IF_ERROR(CheckBetween("score_work_bytes", profile.score_work_bytes, 64));
  RETURN_IF_ERROR(CheckBetween("fragmentation", profile.fragmentation, 1));
  RETURN_IF_ERROR(CheckBetween("oom_center", profile.oom_center, 2));
  RETURN_IF_ERROR(CheckPositive("oom_width", profile.oom_width));
  RETURN_IF_ERROR(CheckBetween("data_parallel_overlap", profile.data_parallel_overlap, 1));
  RETURN_IF_ERROR(CheckRange("fixed_bytes", profile.fixed_bytes, 0, int64_t{1} << 40));
  RETURN_IF_ERROR(CheckBetween("eager_norm_traffic_bytes", profile.eager_norm_traffic_bytes, 1000));
  RETURN_IF_ERROR(
      CheckBetween("fused_softmax_traffic_bytes", profile.fused_softmax_traffic_bytes, 1000));
  RETURN_IF_ERROR(
      CheckBetween("eager_attention_traffic_bytes", profile.eager_attention_traffic_bytes, 1000));
  RETURN_IF_ERROR(CheckBetween("loss_traffic_bytes", profile.loss_traffic_bytes, 1000));
  RETURN_IF_ERROR(CheckBetween("rope_traffic_bytes", profile.rope_traffic_bytes, 1000));
  RETURN_IF_ERROR(CheckBetween("accumulate_traffic_bytes", profile.accumulate_traffic_bytes, 100));
  RETURN_IF_ERROR(CheckBetween("reduce_bytes", profile.reduce_bytes, 8));
  RETURN_IF_ERROR(CheckRange("ring_gradient_bytes", profile.ring_gradient_bytes, 1, 8));
  RETURN_IF_ERROR(CheckPositive("matmul_share", profile.matmul_share));
  RETURN_IF_ERROR(CheckPositive("network_share", profile.network_share));
  RETURN_IF_ERROR(CheckBetween("network_contention", profile.network_contention, 2));
  RETURN_IF_ERROR(CheckBetween("pressure_from", profile.pressure_from, 2));
  RETURN_IF_ERROR(CheckBetween("pressure_slope", profile.pressure_slope, 10));
  RETURN_IF_ERROR(CheckBetween("tp_hop_s", profile.tp_hop_s, 10));
  RETURN_IF_ERROR(CheckBetween("pipeline_hop_s", profile.pipeline_hop_s, 10));
  RETURN_IF_ERROR(CheckBetween("step_overhead_s", profile.step_overhead_s, 1000));
  RETURN_IF_ERROR(CheckBetween("step_time_sigma", profile.step_time_sigma, 2));
  RETURN_IF_ERROR(CheckBetween("layer_floor_s", profile.layer_floor_s, 10));
  if (profile.worker_allocations && profile.mesh_order != kDefaultMeshOrder) {
    return FieldError("mesh_order", FormatMeshOrder(profile.mesh_order),
                      "is not that of Meshwright's worker, " + FormatMeshOrder(kDefaultMeshOrder));
  }
  RETURN_IF_ERROR(CheckRange("max_zero", profile.max_zero, 0, 3));
  RETURN_IF_ERROR(CheckRange("min_zero", profile.min_zero, 0, profile.max_zero));
  return CheckRange("vocab_multiple", profile.vocab_multiple, 0, 1 << 16);
}

}  // namespace meshwright::planner
