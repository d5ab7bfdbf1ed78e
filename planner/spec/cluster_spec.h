// ClusterSpec describes the machine to train on: the kind of device, the devices of a node, and the
// links between them.
//
// It does not say how many devices a run takes; that number comes with the request.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/containers/enum_set.h"
#include "planner/spec/calibration.h"
#include "planner/spec/device_kind.h"
#include "planner/spec/fingerprint.h"
#include "planner/spec/kernels.h"
#include "planner/spec/number_formats.h"

namespace meshwright::planner {

// The attention kernel with which Meshwright's worker was measured to be fastest, for heads of one
// size.
struct FastestAttention {
  int64_t head_dim = 0;
  AttentionKernel kernel = AttentionKernel::kFlash2;
  std::string source;  // name of the measurement, in words

  friend bool operator==(const FastestAttention&, const FastestAttention&) = default;
};

// One device: its data-sheet peaks, and the shares of them that real kernels reach.
struct HardwareProfile {
  std::string name;
  double peak_bf16_flops = 0.0;  // dense, FLOP/s; 0 if it has no bf16 products
  double peak_fp16_flops = 0.0;  // dense, FLOP/s; 0 if fp16 products run at the rate of bf16
                                 // products
  // FLOP/s of matmuls in IEEE's fp32. TF32 is a different format, with ten bits of mantissa. A file
  // that gives TF32's peak here says that its fp32 matmuls run at that rate.
  double peak_fp32_flops = 0.0;
  double peak_tf32_flops = 0.0;     // dense, FLOP/s; 0 if it has none. No formula uses it
  double peak_fp8_flops = 0.0;      // dense, FLOP/s; 0 if it has no fp8 products
  double peak_fp4_flops = 0.0;      // dense, FLOP/s; 0 if it has no fp4 products
  int64_t memory_bytes = 0;         // memory that the driver reports
  double memory_bytes_per_s = 0.0;  // bandwidth of device memory, from the data sheet
  double memory_efficiency = 0.85;  // share of memory_bytes_per_s that a streaming kernel reaches
  double matmul_efficiency = 0.8;   // share of the peak that a large, well-shaped matmul reaches
  double matmul_half_k = 256.0;     // inner dimension at which matmul_efficiency is halved
  // The share of its own peak that an fp8 or fp4 product reaches, divided by the share that a bf16
  // product reaches.
  double narrow_matmul_ratio = 0.95;
  // The largest share of the peak that a matmul benchmark reaches. No framework exceeds it.
  double matmul_limit = 1.0;
  // Causal attention, forward and backward, reaches this share of the peak at sequence length s:
  // attention_efficiency * s / (s + attention_half_seq).
  double attention_efficiency = 0.5;
  double attention_half_seq = 0.0;
  // Rates of attention kernels relative to FlashAttention-2, to which attention_efficiency refers;
  // 0 if the device has no such kernel. AttentionRatio() returns the rate of a kernel.
  double flash1_ratio = 0.45;
  double flash3_ratio = 1.6;
  double flash4_ratio = 1.6;
  double cudnn_ratio = 1.0;
  // The fastest attention kernels as measured; empty if they were not measured. A profile may
  // choose them for layouts that name no kernel (planner/profile/attention_default.h).
  std::vector<FastestAttention> fastest_attention = {};
  double kernel_launch_s = 0.0;    // host time of a kernel launch; the least time of any kernel
  int32_t compute_units = 0;       // SMs; tiles of a matmul are spread over them in waves
  int32_t tile_m = 0;              // rows of the output tile of one compute unit
  int32_t tile_n = 0;              // columns of that tile
  int64_t context_bytes = 0;       // device context and libraries, outside the allocator
  int64_t communicator_bytes = 0;  // buffers of one communicator, outside the allocator
  // Bytes of the buffers of a communicator that only sends point-to-point messages, as in a
  // pipeline; outside the allocator.
  int64_t point_to_point_communicator_bytes = 0;
  // Bytes that the matmul library holds in the allocator throughout a run, for the compute stream.
  int64_t matmul_workspace_bytes = 0;
  double straggler_sigma = 0.0;  // relative spread of device speeds: a step waits for the slowest
  // Spread of measured over predicted step times, as the standard deviation of the logarithm. The
  // spread comes from the runs that the cluster was fitted to; without a fit it is assumed.
  double step_time_sigma = 0.0;

  // Returns the peak, in FLOP/s, of matmuls in 16 bits: in bf16 or, if the device has none, in
  // fp16.
  double PeakHalfFlops() const { return peak_bf16_flops > 0.0 ? peak_bf16_flops : peak_fp16_flops; }

  // Returns the peak, in FLOP/s, of matmuls whose inputs have the format `inputs`; 0 if the device
  // has no such products. Processors compute fp64 on their fp32 units at half the rate.
  double PeakFlops(NumberFormat inputs) const {
    if (inputs == NumberFormat::kBf16) return peak_bf16_flops;
    if (inputs == NumberFormat::kFp16) {
      return peak_fp16_flops > 0.0 ? peak_fp16_flops : peak_bf16_flops;
    }
    if (inputs == NumberFormat::kFp8) return peak_fp8_flops;
    if (inputs == NumberFormat::kFp4) return peak_fp4_flops;
    return inputs == NumberFormat::kFp32 ? peak_fp32_flops : peak_fp32_flops / 2.0;
  }

  // Returns the rate of a kernel that keeps no scores, relative to FlashAttention-2; 0 if the
  // device has no such kernel.
  double AttentionRatio(AttentionKernel kernel) const {
    switch (kernel) {
      case AttentionKernel::kFlash1:
        return flash1_ratio;
      case AttentionKernel::kFlash3:
        return flash3_ratio;
      case AttentionKernel::kFlash4:
        return flash4_ratio;
      case AttentionKernel::kCudnn:
        return cudnn_ratio;
      default:
        return 1.0;
    }
  }

  friend bool operator==(const HardwareProfile&, const HardwareProfile&) = default;
};

// One direction of a link, as one rank sees it.
struct LinkProfile {
  double bytes_per_s = 0.0;  // bandwidth, from the data sheet
  double efficiency = 0.8;   // share of bytes_per_s that large messages reach
  // Latency of one step of a ring. If the collective model is NCCL, this is only the latency that a
  // network interface adds to NCCL's own latencies (planner/cost/nccl_tuning.h).
  double hop_latency_s = 0.0;
  // Host time of one step of a ring that spans nodes. It is the minimum duration of such a step.
  double step_overhead_s = 0.0;
  double base_latency_s = 0.0;  // seconds to start a collective
  // The rate in bytes per second, one way, between the two devices of a pair that a bridge joins
  // (devices 0 and 1, 2 and 3, ...); 0 without bridges. Only links inside a node have bridges.
  double pair_bytes_per_s = 0.0;
  // If true, each device has its own link to every other device, as in an MI300X platform. A group
  // then reaches only the share of bytes_per_s of the links between its ranks. Only links inside a
  // node are meshes.
  bool mesh = false;

  double AchievedBytesPerS() const { return bytes_per_s * efficiency; }

  friend bool operator==(const LinkProfile&, const LinkProfile&) = default;
};

// The host of a node, to which a layout may move bytes from the memory of the node's devices
// (Layout::offload). A figure is 0 if it is not known.
struct HostProfile {
  double link_bytes_per_s = 0.0;  // data-sheet bandwidth between one device and the host, one way
  double link_efficiency = 0.85;  // share of link_bytes_per_s that pinned copies reach
  int64_t memory_bytes = 0;       // memory of a node
  // Data-sheet bandwidth of a node's memory, which its devices share.
  double memory_bytes_per_s = 0.0;
  // Share of memory_bytes_per_s that an optimizer's update on the node's processors reaches. The
  // default is CPU-Adam's: 10 billion parameters in 2.57 s on 256 GB/s (ZeRO-Offload, arXiv
  // 2101.06840, Table 4).
  double update_efficiency = 0.45;
  // Seconds in which one process of the host issues an operator of Megatron-Core without CUDA
  // graphs: its Python, autograd and kernel launches. The default is between the fitted hosts.
  double operator_s = 1.8e-4;
  std::string source;  // where the figures come from, in words

  friend bool operator==(const HostProfile&, const HostProfile&) = default;
};

// The power of a device in each of its states, for estimates of energy. A figure is 0 if it is not
// known.
struct PowerProfile {
  double compute_w = 0.0;  // watts while its kernels compute
  double exposed_w = 0.0;  // watts while it waits for communication that no kernel hides
  double idle_w = 0.0;     // watts with nothing to run
  std::string source;      // where the figures come from, in words

  friend bool operator==(const PowerProfile&, const PowerProfile&) = default;
};

// The way in which collectives are timed: as a plain ring with the links' own latencies, or by
// NCCL's choice among its algorithms and protocols (planner/cost/nccl_tuning.h).
enum class CollectiveModel : uint8_t { kRing, kNccl };

// The evidence for the figures of a cluster, from the weakest to the strongest.
enum class Evidence : uint8_t {
  kAssumption,  // figures are orders of magnitude, or their evidence is not stated
  kUnverified,  // peaks that nobody checked against the data sheet yet
  kDataSheet,   // peaks of the data sheet, and shares of a peak that other devices reach
  kBenchmark,   // parts of a step, measured on the cluster
  kRuns,        // measured training runs to which the cluster was fitted (its calibration)
};

// Names in the order of Evidence.
inline constexpr std::array<std::string_view, 5> kEvidenceNames = {
    "assumption", "unverified", "data_sheet", "benchmark", "runs"};
std::string_view EvidenceName(Evidence evidence);
absl::StatusOr<Evidence> ParseEvidence(std::string_view name);

// The parts of a cluster whose figures decide the time of a step.
enum class ClusterPart : uint8_t { kDevice, kLinksInside, kLinksBetween };

inline constexpr EnumNames<ClusterPart, 3> kClusterParts = {{
    {ClusterPart::kDevice, "device"},
    {ClusterPart::kLinksInside, "scale_up"},
    {ClusterPart::kLinksBetween, "scale_out"},
}};

struct ClusterSpec {
  std::string name;
  // Names of the cluster's device in measurement files. A measured row belongs to a cluster if the
  // row's `gpu` column begins with one of the cluster's names. If this holds for several clusters,
  // the longest name decides.
  std::vector<std::string> gpu_names;
  // Conditions that measured rows of this cluster's machines meet
  // (planner/measurement/row_condition.h). They take precedence over GPU names.
  std::vector<std::string> rows;
  CollectiveModel collectives = CollectiveModel::kRing;
  HardwareProfile device;
  int32_t devices_per_node = 0;  // the devices that scale_up connects
  int32_t nodes = 0;             // number of nodes; 0 if it is not known
  // If true, scale_up reaches beyond one host, as in a rack of GB200. A benchmark of one host then
  // does not measure scale_up.
  bool scale_up_spans_hosts = false;
  LinkProfile scale_up;   // the link inside a node
  LinkProfile scale_out;  // the link between nodes
  // The number of processor cores that the ranks of a node share, if each device is a process on
  // these cores. The peak of a device is then the peak of a core. 0 if each device computes on its
  // own.
  int32_t physical_cores = 0;
  HostProfile host;
  PowerProfile power;
  std::string source;  // where the figures come from, in words
  Evidence rests_on = Evidence::kAssumption;
  // The parts whose figures differ from the preset on which the cluster is based. The evidence for
  // the preset does not cover these parts.
  EnumSet<ClusterPart> unmeasured = {};
  // The machine on which the figures were measured; empty if they were not measured on one machine.
  Fingerprint fingerprint;
  // The preset whose figures a benchmark or a fit replaced, if any.
  std::string calibrated_from;
  Calibration calibration;

  // Returns the number of devices, or 0 if the number of nodes is not known.
  int64_t devices() const { return int64_t{nodes} * devices_per_node; }

  // Only processors have a core count; every other device is a GPU.
  DeviceKind device_kind() const {
    return physical_cores > 0 ? DeviceKind::kCpu : DeviceKind::kCuda;
  }

  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

// Returns InvalidArgument, with the field, its value and what is accepted, if a field is out of
// range.
absl::Status Validate(const ClusterSpec& cluster);

// Returns the standard deviation of ln(measured / predicted step time) that is assumed for a
// cluster with this evidence if the cluster states none. All values are chosen, not derived. For
// data sheets the value is 0.2, about the error of fitted clusters before their fit
// (tools/prior_errors). It is 0.1 if parts of a step were measured, and 0.3 if nobody checked the
// figures.
double AssumedStepTimeSigma(Evidence evidence);

// Returns the parts whose figures differ between the two clusters. Names, sizes of memory and
// spreads do not count.
EnumSet<ClusterPart> DifferingParts(const ClusterSpec& a, const ClusterSpec& b);

// Returns the precision of a run that names none: fp32 on processor cores, fp16 on a device without
// bf16 products, otherwise bf16.
Precision DefaultPrecision(const ClusterSpec& cluster);

// Returns the throughput and memory bandwidth of one of `ranks_per_node` ranks, relative to one
// device: 1, or physical_cores / ranks_per_node if ranks share processor cores.
double ThroughputShare(const ClusterSpec& cluster, int64_t ranks_per_node);

// Returns the number of threads of each of Meshwright's workers if `ranks_at_once` workers share a
// host's cores.
int64_t ThreadsPerRank(int64_t cores, int64_t ranks_at_once);

// Returns the peak FLOP/s of one of a run's `ranks` ranks in the matmuls of a forward pass. This
// peak is the denominator of MFU.
double RankPeakFlops(const ClusterSpec& cluster, Precision precision, int64_t ranks);

}  // namespace meshwright::planner
