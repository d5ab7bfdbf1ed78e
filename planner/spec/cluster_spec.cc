#include "planner/spec/cluster_spec.h"

#include <algorithm>
#include <array>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/spec/node_placement.h"

namespace meshwright::planner {
namespace {

// Rates far from anything real make times that are not finite.
absl::Status CheckRate(const std::string& field, double value) {
  if (value >= 1.0 && value <= 1e24) return absl::OkStatus();
  return FieldError(field, std::to_string(value), "must be from 1 to 1e24 per second");
}

absl::Status CheckNotNegative(const std::string& field, double value) {
  if (value >= 0) return absl::OkStatus();
  return FieldError(field, std::to_string(value), "must not be negative");
}

absl::Status ValidateDevice(const HardwareProfile& device) {
  if (device.peak_bf16_flops != 0.0 || device.peak_fp16_flops == 0.0) {
    RETURN_IF_ERROR(CheckRate("device.peak_bf16_flops", device.peak_bf16_flops));
  }
  if (device.peak_fp16_flops != 0.0) {
    RETURN_IF_ERROR(CheckRate("device.peak_fp16_flops", device.peak_fp16_flops));
  }
  RETURN_IF_ERROR(CheckRate("device.peak_fp32_flops", device.peak_fp32_flops));
  if (device.peak_tf32_flops != 0.0) {
    RETURN_IF_ERROR(CheckRate("device.peak_tf32_flops", device.peak_tf32_flops));
  }
  RETURN_IF_ERROR(CheckRange("device.memory_bytes", device.memory_bytes, 1, int64_t{1} << 50));
  RETURN_IF_ERROR(CheckRate("device.memory_bytes_per_s", device.memory_bytes_per_s));
  RETURN_IF_ERROR(CheckShare("device.memory_efficiency", device.memory_efficiency));
  RETURN_IF_ERROR(CheckShare("device.matmul_efficiency", device.matmul_efficiency));
  RETURN_IF_ERROR(CheckShare("device.attention_efficiency", device.attention_efficiency));
  RETURN_IF_ERROR(CheckShare("device.matmul_limit", device.matmul_limit));
  RETURN_IF_ERROR(CheckShare("device.narrow_matmul_ratio", device.narrow_matmul_ratio));
  RETURN_IF_ERROR(CheckNotNegative("device.peak_fp8_flops", device.peak_fp8_flops));
  RETURN_IF_ERROR(CheckNotNegative("device.peak_fp4_flops", device.peak_fp4_flops));
  RETURN_IF_ERROR(CheckNotNegative("device.matmul_half_k", device.matmul_half_k));
  RETURN_IF_ERROR(CheckNotNegative("device.attention_half_seq", device.attention_half_seq));
  RETURN_IF_ERROR(CheckNotNegative("device.flash1_ratio", device.flash1_ratio));
  RETURN_IF_ERROR(CheckNotNegative("device.flash3_ratio", device.flash3_ratio));
  RETURN_IF_ERROR(CheckNotNegative("device.flash4_ratio", device.flash4_ratio));
  RETURN_IF_ERROR(CheckNotNegative("device.cudnn_ratio", device.cudnn_ratio));
  for (const FastestAttention& fastest : device.fastest_attention) {
    RETURN_IF_ERROR(CheckRange("device.fastest_attention.head_dim", fastest.head_dim, 1, 1 << 16));
  }
  for (const double sigma : {device.straggler_sigma, device.step_time_sigma}) {
    if (sigma >= 0 && sigma < 2) continue;
    return FieldError("device sigma", std::to_string(sigma), "must be from 0 to 2");
  }
  RETURN_IF_ERROR(CheckNotNegative("device.kernel_launch_s", device.kernel_launch_s));
  RETURN_IF_ERROR(CheckRange("device.compute_units", device.compute_units, 1, 1 << 20));
  RETURN_IF_ERROR(CheckRange("device.tile_m", device.tile_m, 1, 1 << 16));
  RETURN_IF_ERROR(CheckRange("device.tile_n", device.tile_n, 1, 1 << 16));
  RETURN_IF_ERROR(
      CheckRange("device.communicator_bytes", device.communicator_bytes, 0, device.memory_bytes));
  RETURN_IF_ERROR(CheckRange("device.point_to_point_communicator_bytes",
                             device.point_to_point_communicator_bytes, 0, device.memory_bytes));
  RETURN_IF_ERROR(CheckRange("device.matmul_workspace_bytes", device.matmul_workspace_bytes, 0,
                             device.memory_bytes));
  return CheckRange("device.context_bytes", device.context_bytes, 0, device.memory_bytes);
}

absl::Status ValidateLink(const std::string& field, const LinkProfile& link) {
  RETURN_IF_ERROR(CheckRate(field + ".bytes_per_s", link.bytes_per_s));
  RETURN_IF_ERROR(CheckShare(field + ".efficiency", link.efficiency));
  if (link.pair_bytes_per_s != 0.0) {
    RETURN_IF_ERROR(CheckRate(field + ".pair_bytes_per_s", link.pair_bytes_per_s));
  }
  for (const double latency_s : {link.hop_latency_s, link.step_overhead_s, link.base_latency_s}) {
    if (!(latency_s >= 0 && latency_s <= 10)) {
      return FieldError(field + " latency", std::to_string(latency_s), "must be from 0 to 10 s");
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateHost(const HostProfile& host) {
  if (host.link_bytes_per_s != 0.0) {
    RETURN_IF_ERROR(CheckRate("host.link_bytes_per_s", host.link_bytes_per_s));
  }
  RETURN_IF_ERROR(CheckShare("host.link_efficiency", host.link_efficiency));
  RETURN_IF_ERROR(CheckRange("host.memory_bytes", host.memory_bytes, 0, int64_t{1} << 56));
  if (host.memory_bytes_per_s != 0.0) {
    RETURN_IF_ERROR(CheckRate("host.memory_bytes_per_s", host.memory_bytes_per_s));
  }
  return CheckShare("host.update_efficiency", host.update_efficiency);
}

absl::Status ValidatePower(const PowerProfile& power) {
  constexpr double kMostWatts = 1e5;
  for (const auto& [name, watts] :
       {std::pair{"power.compute_w", power.compute_w},
        std::pair{"power.exposed_w", power.exposed_w}, std::pair{"power.idle_w", power.idle_w}}) {
    if (!(watts >= 0.0 && watts <= kMostWatts)) {
      return FieldError(name, std::to_string(watts), "must be from 0 to 100000 W");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view EvidenceName(Evidence evidence) {
  return kEvidenceNames[static_cast<size_t>(evidence)];
}

absl::StatusOr<Evidence> ParseEvidence(std::string_view name) {
  for (size_t i = 0; i < kEvidenceNames.size(); ++i) {
    if (kEvidenceNames[i] == name) return static_cast<Evidence>(i);
  }
  return FieldError("rests_on", name,
                    "must be assumption, unverified, data_sheet, benchmark or runs");
}

absl::Status Validate(const ClusterSpec& cluster) {
  RETURN_IF_ERROR(ValidateDevice(cluster.device));
  RETURN_IF_ERROR(CheckRange("devices_per_node", cluster.devices_per_node, 1, 1 << 20));
  RETURN_IF_ERROR(CheckRange("nodes", cluster.nodes, 0, 1 << 20));
  RETURN_IF_ERROR(ValidateLink("scale_up", cluster.scale_up));
  RETURN_IF_ERROR(ValidateLink("scale_out", cluster.scale_out));
  if (cluster.scale_out.mesh || cluster.scale_out.pair_bytes_per_s != 0.0) {
    return FieldError(cluster.scale_out.mesh ? "scale_out.mesh" : "scale_out.pair_bytes_per_s",
                      "(given)", "describes links inside a node; must be in scale_up");
  }
  RETURN_IF_ERROR(ValidateHost(cluster.host));
  RETURN_IF_ERROR(ValidatePower(cluster.power));
  return CheckRange("physical_cores", cluster.physical_cores, 0, 1 << 16);
}

double AssumedStepTimeSigma(Evidence evidence) {
  switch (evidence) {
    case Evidence::kAssumption:
    case Evidence::kUnverified:
      return 0.3;
    case Evidence::kDataSheet:
      return 0.2;
    case Evidence::kBenchmark:
    case Evidence::kRuns:
      break;
  }
  return 0.1;
}

EnumSet<ClusterPart> DifferingParts(const ClusterSpec& a, const ClusterSpec& b) {
  HardwareProfile device = a.device;
  device.name = b.device.name;
  device.memory_bytes = b.device.memory_bytes;
  device.context_bytes = b.device.context_bytes;
  device.communicator_bytes = b.device.communicator_bytes;
  device.point_to_point_communicator_bytes = b.device.point_to_point_communicator_bytes;
  device.matmul_workspace_bytes = b.device.matmul_workspace_bytes;
  device.straggler_sigma = b.device.straggler_sigma;
  device.step_time_sigma = b.device.step_time_sigma;
  EnumSet<ClusterPart> parts;
  if (device != b.device) parts.Add(ClusterPart::kDevice);
  if (a.scale_up != b.scale_up) parts.Add(ClusterPart::kLinksInside);
  if (a.scale_out != b.scale_out) parts.Add(ClusterPart::kLinksBetween);
  return parts;
}

Precision DefaultPrecision(const ClusterSpec& cluster) {
  if (cluster.device_kind() == DeviceKind::kCpu) return Precision::kFp32;
  return cluster.device.peak_bf16_flops > 0.0 ? Precision::kBf16 : Precision::kFp16;
}

double ThroughputShare(const ClusterSpec& cluster, int64_t ranks_per_node) {
  if (!SharesCores(cluster.device_kind())) return 1.0;
  return static_cast<double>(cluster.physical_cores) / static_cast<double>(ranks_per_node);
}

int64_t ThreadsPerRank(int64_t cores, int64_t ranks_at_once) {
  return std::max<int64_t>(1, cores / ranks_at_once);
}

double RankPeakFlops(const ClusterSpec& cluster, Precision precision, int64_t ranks) {
  const int64_t ranks_per_node = FillNodes(ranks, cluster.devices_per_node).per_node;
  return cluster.device.PeakFlops(NumberFormatsOf(precision).matmul_inputs.forward) *
         ThroughputShare(cluster, ranks_per_node);
}

}  // namespace meshwright::planner
