// ClusterSpec is the machine to train on: one kind of device, the devices of a node, and the links
// between them.
//
// It says what a cluster consists of, not how many devices a run takes; that number comes with the
// request.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/spec/calibration.h"
#include "planner/spec/device_kind.h"
#include "planner/spec/kernels.h"
#include "planner/spec/number_formats.h"

namespace meshwright::planner {

// The attention kernel that Meshwright's worker was measured to be fastest with, for heads of one
// size.
struct FastestAttention {
  int64_t head_dim = 0;
  AttentionKernel kernel = AttentionKernel::kFlash2;
  std::string source;  // which measurement, in words

  friend bool operator==(const FastestAttention&, const FastestAttention&) = default;
};

// One device: data-sheet peaks and the share of them that real kernels reach.
struct HardwareProfile {
  std::string name;
  double peak_bf16_flops = 0.0;  // dense, FLOP/s
  // FLOP/s of fp32 matmuls: IEEE's, not TF32's, which have ten bits of mantissa. A file with TF32's
  // peak here states that its fp32 matmuls run at that rate.
  double peak_fp32_flops = 0.0;
  double peak_tf32_flops = 0.0;  // dense, FLOP/s; 0 where it has none. Not used by any formula
  double peak_fp8_flops = 0.0;   // dense, FLOP/s; 0 where it has no such products
  double peak_fp4_flops = 0.0;
  int64_t memory_bytes = 0;         // as the driver reports it
  double memory_bytes_per_s = 0.0;  // data sheet
  double memory_efficiency = 0.85;  // share of memory_bytes_per_s that a streaming kernel reaches
  double matmul_efficiency = 0.8;   // share of the peak that a large, well-shaped matmul reaches
  double matmul_half_k = 256.0;     // inner dimension at which a matmul reaches half of that
  // The share of its peak that an fp8 or fp4 product reaches, over the share that a bf16 product
  // reaches.
  double narrow_matmul_ratio = 0.95;
  // The largest share of the peak that a matmul benchmark reaches, which no framework exceeds.
  double matmul_limit = 1.0;
  // Share of the peak that causal attention reaches, forward and backward: attention_efficiency * s
  // / (s + attention_half_seq) at sequence length s.
  double attention_efficiency = 0.5;
  double attention_half_seq = 0.0;
  // Rates of attention kernels over FlashAttention-2's, to which attention_efficiency refers.
  double flash1_ratio = 0.45;
  double flash3_ratio = 1.6;
  double cudnn_ratio = 1.0;
  // Empty until measured; decides for layouts that name no kernel
  // (planner/profile/attention_default.h).
  std::vector<FastestAttention> fastest_attention = {};
  double kernel_launch_s = 0.0;  // host time of one kernel; the least time of small kernels
  int32_t compute_units = 0;     // SMs; tiles of a matmul are spread over them in waves
  int32_t tile_m = 0;            // output tile of one compute unit
  int32_t tile_n = 0;
  int64_t context_bytes = 0;       // device context and libraries, outside the allocator
  int64_t communicator_bytes = 0;  // buffers of one communicator, outside the allocator
  // Likewise for a communicator that only passes messages between pairs, as a pipeline's.
  int64_t point_to_point_communicator_bytes = 0;
  // Held by the matmul library in the allocator throughout, for the stream that computes.
  int64_t matmul_workspace_bytes = 0;
  double straggler_sigma = 0.0;  // relative spread of device speeds: a step waits for the slowest
  // Spread of measured over predicted step times, as the standard deviation of the logarithm: that
  // of the runs that the cluster was fitted to, otherwise an assumed one.
  double step_time_sigma = 0.0;

  // Returns the peak of matmuls whose inputs are in that format. fp64 uses the fp32 units of a
  // processor at half their rate.
  double PeakFlops(NumberFormat inputs) const {
    if (inputs == NumberFormat::kBf16) return peak_bf16_flops;
    if (inputs == NumberFormat::kFp8) return peak_fp8_flops;
    if (inputs == NumberFormat::kFp4) return peak_fp4_flops;
    return inputs == NumberFormat::kFp32 ? peak_fp32_flops : peak_fp32_flops / 2.0;
  }

  friend bool operator==(const HardwareProfile&, const HardwareProfile&) = default;
};

// A link as one rank sees it, one way.
struct LinkProfile {
  double bytes_per_s = 0.0;  // data sheet
  double efficiency = 0.8;   // share reached by large messages
  // One step of a ring. NCCL's own latencies are in its tables; with NCCL this is what an interface
  // adds to them.
  double hop_latency_s = 0.0;
  // Host time of a ring step where the ring leaves a node: no step of it is shorter.
  double step_overhead_s = 0.0;
  double base_latency_s = 0.0;  // start of a collective

  double AchievedBytesPerS() const { return bytes_per_s * efficiency; }

  friend bool operator==(const LinkProfile&, const LinkProfile&) = default;
};

// The host of a node as its devices use it, for what a layout moves out of their memory
// (Layout::offload). A figure is 0 where it is not known.
struct HostProfile {
  double link_bytes_per_s = 0.0;    // between one device and the host, one way; data sheet
  double link_efficiency = 0.85;    // share of it that copies from pinned memory reach
  int64_t memory_bytes = 0;         // of a node
  double memory_bytes_per_s = 0.0;  // of a node, data sheet; its devices share it
  // Share of memory_bytes_per_s that an optimizer's update on the node's processors reaches. The
  // default is CPU-Adam's: 10 billion parameters in 2.57 s on 256 GB/s (ZeRO-Offload, arXiv
  // 2101.06840, Table 4).
  double update_efficiency = 0.45;
  std::string source;  // where the figures come from, in words

  friend bool operator==(const HostProfile&, const HostProfile&) = default;
};

// Watts that a device draws by what it does, for questions about energy. A figure is 0 where it is
// not known.
struct PowerProfile {
  double compute_w = 0.0;  // while its kernels compute
  double exposed_w = 0.0;  // while it waits for communication that no kernel hides
  double idle_w = 0.0;     // with nothing to run
  std::string source;      // where the figures come from, in words

  friend bool operator==(const PowerProfile&, const PowerProfile&) = default;
};

// How collectives are timed: as a plain ring with the links' own latencies, or by NCCL's choice
// among its algorithms and protocols (planner/cost/nccl_tuning.h).
enum class CollectiveModel : uint8_t { kRing, kNccl };

// What the figures of a cluster rest on, from the weakest to the strongest.
enum class Evidence : uint8_t {
  kAssumption,  // orders of magnitude, or not stated
  kDataSheet,   // peaks of the data sheet, and the shares that other devices reach of theirs
  kBenchmark,   // parts of a step, measured on it
  kRuns,        // measured training runs, to which it was fitted: see its calibration
};

// In the order of the enumeration.
inline constexpr std::array<std::string_view, 4> kEvidenceNames = {"assumption", "data_sheet",
                                                                   "benchmark", "runs"};
std::string_view EvidenceName(Evidence evidence);
absl::StatusOr<Evidence> ParseEvidence(std::string_view name);

struct ClusterSpec {
  std::string name;
  // The names of its device in measurement files; the longest prefix of their `gpu` column decides.
  std::vector<std::string> gpu_names;
  CollectiveModel collectives = CollectiveModel::kRing;
  HardwareProfile device;
  int32_t devices_per_node = 0;  // the devices that scale_up connects
  // Whether scale_up reaches beyond one host, as in a rack of GB200; benchmarks of one host then do
  // not measure it.
  bool scale_up_spans_hosts = false;
  LinkProfile scale_up;   // inside a node
  LinkProfile scale_out;  // between nodes
  // Only for devices that are processes on shared processor cores (a device's peak is then that of
  // a core): the ranks of a node share this many cores. 0 where each device computes on its own.
  int32_t physical_cores = 0;
  HostProfile host;
  PowerProfile power;
  std::string source;  // where the figures come from, in words
  Evidence rests_on = Evidence::kAssumption;
  Calibration calibration;

  // Only processors have a core count; every other device is a GPU.
  DeviceKind device_kind() const {
    return physical_cores > 0 ? DeviceKind::kCpu : DeviceKind::kCuda;
  }

  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

// InvalidArgument naming the field, its value and what is accepted.
absl::Status Validate(const ClusterSpec& cluster);

// Returns the throughput and memory bandwidth of one of `ranks_per_node` ranks, in devices: 1, or
// physical_cores / ranks_per_node where ranks share processor cores.
double ThroughputShare(const ClusterSpec& cluster, int64_t ranks_per_node);

// Returns the threads that each of Meshwright's workers computes with where `ranks_at_once` share a
// host's cores.
int64_t ThreadsPerRank(int64_t cores, int64_t ranks_at_once);

// Returns the FLOP/s of one of a run's `ranks` in a forward pass's matmuls, the denominator of MFU.
double RankPeakFlops(const ClusterSpec& cluster, Precision precision, int64_t ranks);

}  // namespace meshwright::planner
