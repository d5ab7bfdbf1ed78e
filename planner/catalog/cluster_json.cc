#include <algorithm>
#include <utility>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/catalog/calibration_fields.h"
#include "planner/catalog/catalog.h"
#include "planner/codec/json_codec.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

// NCCL_BUFFSIZE's 4 MiB for each of the 4 channels that the worker gives a group of messages.
constexpr int64_t kLaneBufferBytes = int64_t{16} << 20;
constexpr int64_t kNotSaid = -(int64_t{1} << 62);

constexpr EnumNames<CollectiveModel, 2> kCollectiveModels = {{
    {CollectiveModel::kRing, "ring"},
    {CollectiveModel::kNccl, "nccl"},
}};
constexpr TextForm kEvidenceText{&EvidenceName, &ParseEvidence};

absl::StatusOr<AttentionKernel> ParseFastest(std::string_view name) {
  absl::StatusOr<AttentionKernel> kernel = ParseAttentionKernel(name);
  if (kernel.ok()) return kernel;
  return FieldError("device.fastest_attention.kernel", name,
                    "must be the name of an attention kernel, such as flash2 or cudnn");
}
constexpr TextForm kFastestText{&AttentionKernelName, &ParseFastest};

}  // namespace

template <ConstOr<FastestAttention> Fastest, typename Visitor>
void VisitFields(Fastest& fastest, Visitor& visit) {
  visit(Needed("head_dim"), fastest.head_dim);
  visit(Needed("kernel"), fastest.kernel, kFastestText);
  visit(Needed("source"), fastest.source);
}

template <ConstOr<HardwareProfile> Device, typename Visitor>
void VisitFields(Device& device, Visitor& visit) {
  visit(Needed("name"), device.name);
  visit(Needed("peak_bf16_flops"), device.peak_bf16_flops);
  visit(Needed("peak_fp32_flops"), device.peak_fp32_flops);
  visit(Needed("memory_bytes"), device.memory_bytes);
  visit(Needed("memory_bytes_per_s"), device.memory_bytes_per_s);
  visit("memory_efficiency", device.memory_efficiency);
  visit("matmul_efficiency", device.matmul_efficiency);
  visit("matmul_half_k", device.matmul_half_k);
  visit("matmul_limit", device.matmul_limit);
  visit("attention_efficiency", device.attention_efficiency);
  visit("attention_half_seq", device.attention_half_seq);
  visit("flash1_ratio", device.flash1_ratio);
  visit("flash3_ratio", device.flash3_ratio);
  visit("cudnn_ratio", device.cudnn_ratio);
  visit("straggler_sigma", device.straggler_sigma);
  visit("step_time_sigma", device.step_time_sigma);
  visit("kernel_launch_s", device.kernel_launch_s);
  visit("compute_units", device.compute_units);
  visit("tile_m", device.tile_m);
  visit("tile_n", device.tile_n);
  visit("context_bytes", device.context_bytes);
  visit("communicator_bytes", device.communicator_bytes);
  visit("point_to_point_communicator_bytes", device.point_to_point_communicator_bytes);
  visit("matmul_workspace_bytes", device.matmul_workspace_bytes);
  visit(OnlyIf(device.peak_tf32_flops > 0.0, "peak_tf32_flops"), device.peak_tf32_flops);
  const bool narrows = device.peak_fp8_flops > 0.0;
  visit(OnlyIf(narrows, "peak_fp8_flops"), device.peak_fp8_flops);
  visit(OnlyIf(device.peak_fp4_flops > 0.0, "peak_fp4_flops"), device.peak_fp4_flops);
  visit(OnlyIf(narrows, "narrow_matmul_ratio"), device.narrow_matmul_ratio);
  visit(OnlyIf(!device.fastest_attention.empty(), "fastest_attention"), device.fastest_attention);
}

template <ConstOr<LinkProfile> Link, typename Visitor>
void VisitFields(Link& link, Visitor& visit) {
  visit(Needed("bytes_per_s"), link.bytes_per_s);
  visit("efficiency", link.efficiency);
  visit("hop_latency_s", link.hop_latency_s);
  visit("step_overhead_s", link.step_overhead_s);
  visit("base_latency_s", link.base_latency_s);
}

template <ConstOr<HostProfile> Host, typename Visitor>
void VisitFields(Host& host, Visitor& visit) {
  visit("link_bytes_per_s", host.link_bytes_per_s);
  visit("link_efficiency", host.link_efficiency);
  visit("memory_bytes", host.memory_bytes);
  visit("memory_bytes_per_s", host.memory_bytes_per_s);
  visit("update_efficiency", host.update_efficiency);
  visit("source", host.source);
}

template <ConstOr<PowerProfile> Power, typename Visitor>
void VisitFields(Power& power, Visitor& visit) {
  visit("compute_w", power.compute_w);
  visit("exposed_w", power.exposed_w);
  visit("idle_w", power.idle_w);
  visit("source", power.source);
}

template <ConstOr<ClusterSpec> Cluster, typename Visitor>
void VisitFields(Cluster& cluster, Visitor& visit) {
  visit(Needed("name"), cluster.name);
  visit("gpu_names", cluster.gpu_names);
  visit("collectives", cluster.collectives, kCollectiveModels);
  visit(Needed("device"), cluster.device);
  visit(Needed("devices_per_node"), cluster.devices_per_node);
  visit("scale_up_spans_hosts", cluster.scale_up_spans_hosts);
  visit(Needed("scale_up"), cluster.scale_up);
  visit(Needed("scale_out"), cluster.scale_out);
  visit("physical_cores", cluster.physical_cores);
  visit(OnlyIf(cluster.host != HostProfile(), "host"), cluster.host);
  visit(OnlyIf(cluster.power != PowerProfile(), "power"), cluster.power);
  visit("source", cluster.source);
  visit("rests_on", cluster.rests_on, kEvidenceText);
  visit(CalibrationKey(cluster.calibration), cluster.calibration);
}

absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view text, int32_t host_cores,
                                            FindText find_base) {
  ASSIGN_OR_RETURN(json own, ParseJsonObject("cluster", text));
  ASSIGN_OR_RETURN(json object, OnItsBase("cluster", std::move(own), find_base));
  // A count, or "detect" for the cores of the machine that asks.
  if (object.contains("physical_cores") && object["physical_cores"] == "detect") {
    object["physical_cores"] = host_cores;
  }
  ClusterSpec cluster;
  cluster.device.compute_units = 1;
  cluster.device.tile_m = 1;
  cluster.device.tile_n = 1;
  cluster.device.point_to_point_communicator_bytes = kNotSaid;
  RETURN_IF_ERROR(ReadJson("cluster", object, UnknownKeys::kRefuse, cluster));
  HardwareProfile& device = cluster.device;
  if (device.point_to_point_communicator_bytes == kNotSaid) {
    device.point_to_point_communicator_bytes =
        std::min(device.communicator_bytes, kLaneBufferBytes);
  }
  // A fitted file without the key rests on the runs of its fit.
  const bool says_evidence = object.contains("rests_on") && !object["rests_on"].is_null();
  if (!says_evidence && cluster.calibration.rows > 0) cluster.rests_on = Evidence::kRuns;
  RETURN_IF_ERROR(Validate(cluster));
  return cluster;
}

std::string ClusterToJson(const ClusterSpec& cluster) { return WriteOrderedJson(cluster).dump(2); }

}  // namespace meshwright::planner
