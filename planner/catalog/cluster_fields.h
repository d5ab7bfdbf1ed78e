// Lists the fields of a cluster file (planner/codec/fields.h).
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "base/text/field_error.h"
#include "planner/catalog/calibration_fields.h"
#include "planner/catalog/fingerprint_fields.h"
#include "planner/codec/fields.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

inline constexpr EnumNames<CollectiveModel, 2> kCollectiveModels = {{
    {CollectiveModel::kRing, "ring"},
    {CollectiveModel::kNccl, "nccl"},
}};
inline constexpr TextForm kEvidenceText{&EvidenceName, &ParseEvidence};

inline absl::StatusOr<AttentionKernel> ParseFastest(std::string_view name) {
  absl::StatusOr<AttentionKernel> kernel = ParseAttentionKernel(name);
  if (kernel.ok()) return kernel;
  return FieldError("device.fastest_attention.kernel", name,
                    "must be the name of an attention kernel, such as flash2 or cudnn");
}
inline constexpr TextForm kFastestText{&AttentionKernelName, &ParseFastest};

template <ConstOr<FastestAttention> Fastest, typename Visitor>
void VisitFields(Fastest& fastest, Visitor& visit) {
  visit(Needed({"head_dim", "Size of a head"}), fastest.head_dim);
  visit(Needed({"kernel", "Name of the kernel"}), fastest.kernel, kFastestText);
  visit(Needed({"source", "Which measurement"}), fastest.source);
}

template <ConstOr<HardwareProfile> Device, typename Visitor>
void VisitFields(Device& device, Visitor& visit) {
  visit(Needed({"name", "Name of the device"}), device.name);
  visit(OnlyIf(device.peak_fp16_flops > 0.0,
               {"peak_fp16_flops", "Dense, FLOP/s; absent where fp16 products run at bf16's rate"}),
        device.peak_fp16_flops);
  Field bf16 = OnlyIf(device.peak_bf16_flops > 0.0,
                      {"peak_bf16_flops", "Dense, FLOP/s; absent where it has no bf16 products"});
  bf16.needed = device.peak_fp16_flops == 0.0;
  visit(bf16, device.peak_bf16_flops);
  visit(Needed({"peak_fp32_flops", "FLOP/s"}), device.peak_fp32_flops);
  visit(Needed({"memory_bytes", "Memory that the driver reports, bytes"}), device.memory_bytes);
  visit(Needed({"memory_bytes_per_s",
                "Bandwidth of device memory, from the data sheet, bytes per second"}),
        device.memory_bytes_per_s);
  visit({"memory_efficiency", "Share of memory_bytes_per_s that is reached"},
        device.memory_efficiency);
  visit({"matmul_efficiency", "Share of the peak that a large matmul reaches"},
        device.matmul_efficiency);
  visit({"matmul_half_k", "Inner dimension at which a matmul reaches half of matmul_efficiency"},
        device.matmul_half_k);
  visit({"matmul_limit", "Largest share of the peak that a matmul benchmark reaches"},
        device.matmul_limit);
  visit({"attention_efficiency", "Share of the peak that causal attention reaches"},
        device.attention_efficiency);
  visit({"attention_half_seq",
         "Sequence length at which causal attention reaches half of attention_efficiency"},
        device.attention_half_seq);
  visit({"flash1_ratio", "Rate over FlashAttention-2's; 0 where it does not run"},
        device.flash1_ratio);
  visit({"flash3_ratio", "Rate over FlashAttention-2's; 0 where it does not run"},
        device.flash3_ratio);
  visit({"flash4_ratio", "Rate over FlashAttention-2's; 0 where it does not run"},
        device.flash4_ratio);
  visit({"cudnn_ratio", "Rate over FlashAttention-2's; 0 where it does not run"},
        device.cudnn_ratio);
  visit({"straggler_sigma", "Spread of device speeds, a share"}, device.straggler_sigma);
  visit({"step_time_sigma", "Spread of measured over predicted step times"},
        device.step_time_sigma);
  visit({"kernel_launch_s", "Host time to launch one kernel, seconds; 4.5 us by default"},
        device.kernel_launch_s);
  visit({"compute_units", "Compute units over which the tiles of a matmul are spread"},
        device.compute_units);
  visit({"tile_m", "Rows of an output tile"}, device.tile_m);
  visit({"tile_n", "Columns of an output tile"}, device.tile_n);
  visit({"context_bytes", "Device context and libraries, bytes; 1 GiB by default"},
        device.context_bytes);
  visit({"communicator_bytes", "Buffers of one communicator, bytes; 512 MiB by default"},
        device.communicator_bytes);
  visit({"point_to_point_communicator_bytes",
         "Buffers of a communicator that only passes point-to-point messages, bytes"},
        device.point_to_point_communicator_bytes);
  visit({"matmul_workspace_bytes",
         "Workspace that the matmul library holds, bytes; cuBLAS's by default"},
        device.matmul_workspace_bytes);
  visit(OnlyIf(device.peak_tf32_flops > 0.0,
               {"peak_tf32_flops", "Dense, FLOP/s; absent where it has none"}),
        device.peak_tf32_flops);
  const bool narrows = device.peak_fp8_flops > 0.0;
  visit(OnlyIf(narrows, {"peak_fp8_flops", "Dense, FLOP/s; absent where it has none"}),
        device.peak_fp8_flops);
  visit(OnlyIf(device.peak_fp4_flops > 0.0,
               {"peak_fp4_flops", "Dense, FLOP/s; absent where it has none"}),
        device.peak_fp4_flops);
  visit(OnlyIf(narrows, {"narrow_matmul_ratio",
                         "Share of the peak that a matmul in fp8 or fp4 reaches, over that in "
                         "bf16; absent where it has neither"}),
        device.narrow_matmul_ratio);
  visit(OnlyIf(!device.fastest_attention.empty(),
               {"fastest_attention", "Measured fastest kernels; absent until measured"}),
        device.fastest_attention);
}

template <ConstOr<LinkProfile> Link, typename Visitor>
void VisitFields(Link& link, Visitor& visit) {
  visit(Needed({"bytes_per_s",
                "Bandwidth of one device, one way, from the data sheet, bytes per second"}),
        link.bytes_per_s);
  visit({"efficiency", "Share of bytes_per_s that large messages reach"}, link.efficiency);
  visit({"hop_latency_s",
         "Latency of one step of a ring, seconds; with NCCL the latency that a network interface "
         "adds to NCCL's own"},
        link.hop_latency_s);
  visit({"step_overhead_s",
         "Host time of one step of a ring that leaves a node, seconds; no such step is shorter"},
        link.step_overhead_s);
  visit({"base_latency_s", "Time to start a collective, seconds"}, link.base_latency_s);
  visit(OnlyIf(link.pair_bytes_per_s > 0.0,
               {"pair_bytes_per_s",
                "Bandwidth between two devices that a bridge joins, one way, bytes per second; "
                "absent where there are no bridges"}),
        link.pair_bytes_per_s);
  visit(OnlyIf(
            link.mesh,
            {"mesh",
             "Whether each device has a separate link to every other device of its node, so that a "
             "group uses only the links among its ranks; absent where a switch joins the devices"}),
        link.mesh);
}

template <ConstOr<HostProfile> Host, typename Visitor>
void VisitFields(Host& host, Visitor& visit) {
  visit({"link_bytes_per_s",
         "Bandwidth between one device and the host, one way, bytes per second; 0 where unknown"},
        host.link_bytes_per_s);
  visit({"link_efficiency", "Share of link_bytes_per_s that copies from pinned memory reach"},
        host.link_efficiency);
  visit({"memory_bytes", "Host memory of a node, bytes; 0 where unknown"}, host.memory_bytes);
  visit({"memory_bytes_per_s",
         "Bandwidth of a node's host memory, bytes per second; 0 where unknown"},
        host.memory_bytes_per_s);
  visit({"update_efficiency",
         "Share of memory_bytes_per_s that an optimizer's update on the node's processors reaches"},
        host.update_efficiency);
  visit({"operator_s",
         "Time in which one process of the host issues an operator of Megatron-Core without CUDA "
         "graphs, seconds"},
        host.operator_s);
  visit({"source", "Where the figures come from"}, host.source);
}

template <ConstOr<PowerProfile> Power, typename Visitor>
void VisitFields(Power& power, Visitor& visit) {
  visit({"compute_w", "Power of a device while its kernels compute, watts"}, power.compute_w);
  visit({"exposed_w", "Power of a device while it waits for exposed communication, watts"},
        power.exposed_w);
  visit({"idle_w", "Power of an idle device, watts"}, power.idle_w);
  visit({"source", "Where the figures come from"}, power.source);
}

template <ConstOr<ClusterSpec> Cluster, typename Visitor>
void VisitFields(Cluster& cluster, Visitor& visit) {
  visit(Needed({"name", "Name of the cluster"}), cluster.name);
  visit({"gpu_names", "What measurement files call its device"}, cluster.gpu_names);
  visit(OnlyIf(!cluster.rows.empty(),
               {"rows",
                "Conditions on measured rows that belong to this cluster whatever their GPU is "
                "called, such as \"source = SimuMax; gpu = B200\"; absent where there are none"}),
        cluster.rows);
  visit({"collectives", "How collectives are timed"}, cluster.collectives, kCollectiveModels);
  visit(Needed({"device", "One device"}), cluster.device);
  visit(Needed({"devices_per_node", "Devices that scale_up connects"}), cluster.devices_per_node);
  visit(OnlyIf(cluster.nodes > 0, {"nodes", "Number of nodes; absent where unknown"}),
        cluster.nodes);
  visit({"scale_up_spans_hosts", "Whether scale_up reaches beyond one host"},
        cluster.scale_up_spans_hosts);
  visit(Needed({"scale_up", "The link inside a node"}), cluster.scale_up);
  visit(Needed({"scale_out", "The link between nodes"}), cluster.scale_out);
  visit({"physical_cores",
         "Cores that the ranks of a node share; 0 where each device computes on its own"},
        cluster.physical_cores);
  visit(OnlyIf(cluster.host != HostProfile(),
               {"host", "The host of a node's devices; absent where nothing is known of it"}),
        cluster.host);
  visit(OnlyIf(cluster.power != PowerProfile(),
               {"power", "Power of a device in each of its states; absent where unknown"}),
        cluster.power);
  visit({"source", "Where the figures come from"}, cluster.source);
  visit(Among(kEvidenceNames, {"rests_on", "Evidence that the figures rest on"}), cluster.rests_on,
        kEvidenceText);
  visit(OnlyIf(!cluster.unmeasured.empty(),
               {"unmeasured",
                "Parts whose figures differ from those of the preset that it is based on; absent "
                "where none does"}),
        cluster.unmeasured, kClusterParts);
  visit(OnlyIf(cluster.fingerprint != Fingerprint(),
               {"fingerprint",
                "Where its figures were measured; absent where they were not measured on one "
                "machine"}),
        cluster.fingerprint);
  visit(OnlyIf(!cluster.calibrated_from.empty(),
               {"calibrated_from",
                "Preset whose figures a benchmark or a fit replaced; absent where there is none"}),
        cluster.calibrated_from);
  visit(CalibrationKey(cluster.calibration), cluster.calibration);
}

}  // namespace meshwright::planner
