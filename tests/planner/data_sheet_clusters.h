// These functions make clusters from data-sheet figures and published micro-benchmarks. Tests that
// quote published numbers use them, since the presets' constants change with every fit.
#pragma once

#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// The efficiencies are those of FlashAttention-2 (arXiv 2307.08691) and of the fastest large
// matmuls on an A100.
inline HardwareProfile A100Device() {
  return {.name = "A100-80 SXM",
          .peak_bf16_flops = 312e12,
          .peak_fp32_flops = 156e12,
          .memory_bytes = int64_t{80} << 30,
          .memory_bytes_per_s = 2.039e12,
          .memory_efficiency = 0.85,
          .matmul_efficiency = 0.81,
          .attention_efficiency = 0.615,
          .attention_half_seq = 450.0,
          .flash1_ratio = 0.45,
          .flash3_ratio = 1.6,
          .kernel_launch_s = 4.5e-6,
          .compute_units = 108,
          .tile_m = 128,
          .tile_n = 256};
}

inline HardwareProfile H100Device() {
  HardwareProfile device = A100Device();
  device.name = "H100 SXM";
  device.peak_bf16_flops = 989e12;
  device.peak_fp32_flops = 494.5e12;
  device.memory_bytes_per_s = 3.35e12;
  device.matmul_efficiency = 0.72;
  device.attention_efficiency = 0.334;
  device.attention_half_seq = 500.0;
  device.compute_units = 132;
  return device;
}

// Returns a cluster of nodes with eight devices. Links have full data-sheet speed and no latency,
// so that the time of a collective is its volume divided by the bandwidth.
inline ClusterSpec PlainRings(const HardwareProfile& device, double inside_bytes_per_s,
                              double across_bytes_per_s) {
  ClusterSpec cluster;
  cluster.name = "plain";
  cluster.collectives = CollectiveModel::kRing;
  cluster.device = device;
  cluster.devices_per_node = 8;
  cluster.scale_up = {.bytes_per_s = inside_bytes_per_s, .efficiency = 1.0};
  cluster.scale_out = {.bytes_per_s = across_bytes_per_s, .efficiency = 1.0};
  return cluster;
}

inline ClusterSpec PlainA100s() { return PlainRings(A100Device(), 300e9, 25e9); }
inline ClusterSpec PlainH100s() { return PlainRings(H100Device(), 450e9, 50e9); }

inline ClusterSpec WithNccl(ClusterSpec cluster) {
  cluster.collectives = CollectiveModel::kNccl;
  return cluster;
}

}  // namespace meshwright::planner
