#include "absl/strings/str_cat.h"
#include "planner/catalog/calibration_json.h"
#include "planner/catalog/catalog.h"
#include "planner/codec/json_fields.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// NCCL_BUFFSIZE's 4 MiB for each of the 4 channels that the worker gives a group of messages.
constexpr int64_t kLaneBufferBytes = int64_t{16} << 20;

std::vector<FastestAttention> ReadFastestAttention(JsonFields& device) {
  std::vector<FastestAttention> all;
  for (const json& object : device.ObjectsOr("fastest_attention")) {
    JsonFields fields(object, "device.fastest_attention.");
    FastestAttention& fastest = all.emplace_back();
    fastest.head_dim = fields.Int("head_dim");
    const std::string name = fields.String("kernel");
    const auto kernel = ParseAttentionKernel(name);
    if (kernel.ok()) {
      fastest.kernel = *kernel;
    } else {
      fields.Fail(FieldError("device.fastest_attention.kernel", name,
                             "must be the name of an attention kernel, such as flash2 or cudnn"));
    }
    fastest.source = fields.String("source");
    fields.RefuseUnknownKeys();
    device.Fail(fields.status());
  }
  return all;
}

ordered_json FastestAttentionToJson(const std::vector<FastestAttention>& all) {
  ordered_json list = ordered_json::array();
  for (const FastestAttention& fastest : all) {
    list.push_back({{"head_dim", fastest.head_dim},
                    {"kernel", std::string(AttentionKernelName(fastest.kernel))},
                    {"source", fastest.source}});
  }
  return list;
}

HardwareProfile ReadDevice(JsonFields& fields) {
  HardwareProfile device;
  device.name = fields.String("name");
  device.peak_bf16_flops = fields.Number("peak_bf16_flops");
  device.peak_fp32_flops = fields.Number("peak_fp32_flops");
  device.peak_tf32_flops = fields.NumberOr("peak_tf32_flops", 0.0);
  device.memory_bytes = fields.Int("memory_bytes");
  device.memory_bytes_per_s = fields.Number("memory_bytes_per_s");
  device.memory_efficiency = fields.NumberOr("memory_efficiency", device.memory_efficiency);
  device.matmul_efficiency = fields.NumberOr("matmul_efficiency", device.matmul_efficiency);
  device.matmul_half_k = fields.NumberOr("matmul_half_k", device.matmul_half_k);
  device.attention_efficiency =
      fields.NumberOr("attention_efficiency", device.attention_efficiency);
  device.attention_half_seq = fields.NumberOr("attention_half_seq", 0.0);
  device.flash1_ratio = fields.NumberOr("flash1_ratio", device.flash1_ratio);
  device.flash3_ratio = fields.NumberOr("flash3_ratio", device.flash3_ratio);
  device.cudnn_ratio = fields.NumberOr("cudnn_ratio", device.cudnn_ratio);
  device.fastest_attention = ReadFastestAttention(fields);
  device.straggler_sigma = fields.NumberOr("straggler_sigma", 0.0);
  device.step_time_sigma = fields.NumberOr("step_time_sigma", 0.0);
  device.kernel_launch_s = fields.NumberOr("kernel_launch_s", 0.0);
  device.compute_units = static_cast<int32_t>(fields.IntOr("compute_units", 1));
  device.tile_m = static_cast<int32_t>(fields.IntOr("tile_m", 1));
  device.tile_n = static_cast<int32_t>(fields.IntOr("tile_n", 1));
  device.context_bytes = fields.IntOr("context_bytes", 0);
  device.communicator_bytes = fields.IntOr("communicator_bytes", 0);
  device.point_to_point_communicator_bytes = fields.IntOr(
      "point_to_point_communicator_bytes", std::min(device.communicator_bytes, kLaneBufferBytes));
  device.matmul_workspace_bytes = fields.IntOr("matmul_workspace_bytes", 0);
  return device;
}

LinkProfile ReadLink(JsonFields& fields) {
  LinkProfile link;
  link.bytes_per_s = fields.Number("bytes_per_s");
  link.efficiency = fields.NumberOr("efficiency", link.efficiency);
  link.hop_latency_s = fields.NumberOr("hop_latency_s", 0.0);
  link.base_latency_s = fields.NumberOr("base_latency_s", 0.0);
  return link;
}

ordered_json LinkToJson(const LinkProfile& link) {
  return {{"bytes_per_s", link.bytes_per_s},
          {"efficiency", link.efficiency},
          {"hop_latency_s", link.hop_latency_s},
          {"base_latency_s", link.base_latency_s}};
}

// A count, or the word "detect" for the cores of the machine that asks.
int32_t ReadCores(JsonFields& fields, const json& object, int32_t host_cores) {
  if (fields.Has("physical_cores") && object["physical_cores"] == "detect") return host_cores;
  return static_cast<int32_t>(fields.IntOr("physical_cores", 0));
}

// A fitted file without the key rests on the runs of its fit.
Evidence ReadEvidence(JsonFields& fields, const Calibration& calibration) {
  const Evidence fallback = calibration.rows > 0 ? Evidence::kRuns : Evidence::kAssumption;
  const auto evidence = ParseEvidence(fields.StringOr("rests_on", EvidenceName(fallback)));
  if (!evidence.ok()) fields.Fail(evidence.status());
  return evidence.value_or(fallback);
}

}  // namespace

absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view text, int32_t host_cores) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject("cluster", text));
  JsonFields fields(object);
  ClusterSpec cluster;
  cluster.name = fields.String("name");
  cluster.devices_per_node = static_cast<int32_t>(fields.Int("devices_per_node"));
  cluster.scale_up_spans_hosts = fields.BoolOr("scale_up_spans_hosts", false);
  cluster.physical_cores = ReadCores(fields, object, host_cores);
  cluster.source = fields.StringOr("source", "");
  cluster.calibration = ReadCalibration(fields);
  cluster.rests_on = ReadEvidence(fields, cluster.calibration);
  cluster.gpu_names = fields.StringsOr("gpu_names");
  const std::string collectives = fields.StringOr("collectives", "ring");
  if (collectives != "ring" && collectives != "nccl") {
    fields.Fail(FieldError("collectives", collectives, "must be ring or nccl"));
  }
  cluster.collectives = collectives == "nccl" ? CollectiveModel::kNccl : CollectiveModel::kRing;
  JsonFields device(fields.Object("device"), "device.");
  JsonFields scale_up(fields.Object("scale_up"), "scale_up.");
  JsonFields scale_out(fields.Object("scale_out"), "scale_out.");
  RETURN_IF_ERROR(fields.status());
  cluster.device = ReadDevice(device);
  cluster.scale_up = ReadLink(scale_up);
  cluster.scale_out = ReadLink(scale_out);
  for (JsonFields* part : {&device, &scale_up, &scale_out, &fields}) {
    part->RefuseUnknownKeys();
    RETURN_IF_ERROR(part->status());
  }
  RETURN_IF_ERROR(Validate(cluster));
  return cluster;
}

std::string ClusterToJson(const ClusterSpec& cluster) {
  const HardwareProfile& device = cluster.device;
  const bool nccl = cluster.collectives == CollectiveModel::kNccl;
  ordered_json object = {
      {"name", cluster.name},
      {"gpu_names", cluster.gpu_names},
      {"collectives", nccl ? "nccl" : "ring"},
      {"device",
       {{"name", device.name},
        {"peak_bf16_flops", device.peak_bf16_flops},
        {"peak_fp32_flops", device.peak_fp32_flops},
        {"memory_bytes", device.memory_bytes},
        {"memory_bytes_per_s", device.memory_bytes_per_s},
        {"memory_efficiency", device.memory_efficiency},
        {"matmul_efficiency", device.matmul_efficiency},
        {"matmul_half_k", device.matmul_half_k},
        {"attention_efficiency", device.attention_efficiency},
        {"attention_half_seq", device.attention_half_seq},
        {"flash1_ratio", device.flash1_ratio},
        {"flash3_ratio", device.flash3_ratio},
        {"cudnn_ratio", device.cudnn_ratio},
        {"straggler_sigma", device.straggler_sigma},
        {"step_time_sigma", device.step_time_sigma},
        {"kernel_launch_s", device.kernel_launch_s},
        {"compute_units", device.compute_units},
        {"tile_m", device.tile_m},
        {"tile_n", device.tile_n},
        {"context_bytes", device.context_bytes},
        {"communicator_bytes", device.communicator_bytes},
        {"point_to_point_communicator_bytes", device.point_to_point_communicator_bytes},
        {"matmul_workspace_bytes", device.matmul_workspace_bytes}}},
      {"devices_per_node", cluster.devices_per_node},
      {"scale_up_spans_hosts", cluster.scale_up_spans_hosts},
      {"scale_up", LinkToJson(cluster.scale_up)},
      {"scale_out", LinkToJson(cluster.scale_out)},
      {"physical_cores", cluster.physical_cores}};
  if (device.peak_tf32_flops > 0.0) object["device"]["peak_tf32_flops"] = device.peak_tf32_flops;
  if (!device.fastest_attention.empty()) {
    object["device"]["fastest_attention"] = FastestAttentionToJson(device.fastest_attention);
  }
  object["source"] = cluster.source;
  object["rests_on"] = std::string(EvidenceName(cluster.rests_on));
  if (!cluster.calibration.command.empty()) {
    object["calibration"] = CalibrationToJson(cluster.calibration);
  }
  return object.dump(2);
}

}  // namespace meshwright::planner
