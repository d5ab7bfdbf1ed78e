// Estimates the seconds of single operators on one device: the longer of arithmetic and memory
// traffic, and at least a kernel launch.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/number_formats.h"

namespace meshwright::planner {

// The part of a device's throughput that one rank gets.
struct DeviceShare {
  const HardwareProfile& device;
  NumberFormats formats = {};
  double share = 1.0;         // ThroughputShare()
  double matmul_share = 1.0;  // OperatorTraffic::matmul_share

  double PeakFlops(NumberFormat inputs) const { return device.PeakFlops(inputs) * share; }
  double PeakFlops() const { return PeakFlops(formats.matmul_inputs.forward); }
  double MemoryBytesPerS() const {
    return device.memory_bytes_per_s * device.memory_efficiency * share;
  }
};

// Returns the share of the peak that a product reaches. It is matmul_efficiency, times the share of
// the compute units that waves of output tiles keep busy, times k / (k + matmul_half_k) for an
// inner dimension k. Products of experts run in one kernel: their tiles fill waves together, but
// each product has its own inner dimension.
double MatmulEfficiency(const HardwareProfile& device, const MatmulShape& product);

// Return the seconds of a product whose factors have the format `inputs`; the second form takes the
// format of forward passes. A product in fp8 or fp4 reaches narrow_matmul_ratio times the share of
// the peak that a product in bf16 reaches, and its matmul_half_k is larger in proportion to the
// peak. REQUIRES: the device has products in this format.
double MatmulTime(const DeviceShare& device, NumberFormat inputs, const MatmulShape& product);
double MatmulTime(const DeviceShare& device, const MatmulShape& product);

// Returns the seconds of `flops` FLOPs of a recurrence's core, or of an index's scores. Kernels
// work on small tiles in bf16. They reach the share kCoreShare of the rate of large products; this
// share is chosen, because no measured rates are published.
double CoreTime(const DeviceShare& device, double flops);
inline constexpr double kCoreShare = 0.5;

// Returns the seconds of an operator that reads and writes `bytes` of memory in all.
double MemoryBoundTime(const DeviceShare& device, double bytes);

// Returns the seconds of a flash kernel's causal forward; the backward takes 2.5 times as long
// (FlashAttention-2, arXiv 2307.08691). For heads of 128 elements the kernel reaches
// attention_efficiency * s / (s + attention_half_seq) of the peak, times its own ratio, where s is
// the length of a block of keys. For shorter heads it reaches less.
double FlashForwardTime(const DeviceShare& device, AttentionKernel kernel,
                        const AttentionShape& shape);
inline constexpr double kAttentionBackwardRatio = 2.5;

// Return the seconds of attention that writes the score matrix out. Forward computes two batched
// products over all keys and moves `traffic_bytes` per score; backward takes twice the products and
// 1.5 times the traffic.
double UnfusedForwardTime(const DeviceShare& device, const AttentionShape& shape,
                          double traffic_bytes);
double UnfusedBackwardTime(const DeviceShare& device, const AttentionShape& shape,
                           double traffic_bytes);

}  // namespace meshwright::planner
