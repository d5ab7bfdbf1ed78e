// Time of single operators on one device: the slower of arithmetic and memory traffic, never below
// a launch.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/number_formats.h"

namespace meshwright::planner {

// One rank's part of the device it runs on.
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

// Share of the peak that an (m x k) times (k x n) product reaches: matmul_efficiency, less the idle
// part of the last wave of output tiles, less the ramp of short inner dimensions
// k / (k + matmul_half_k).
double MatmulEfficiency(const HardwareProfile& device, int64_t m, int64_t n, int64_t k);

// Seconds of an (m x k) times (k x n) product of factors in `inputs`; in the second form in what
// forward passes multiply.
double MatmulTime(const DeviceShare& device, NumberFormat inputs, int64_t m, int64_t n, int64_t k);
double MatmulTime(const DeviceShare& device, int64_t m, int64_t n, int64_t k);

// Seconds of an operator that streams `bytes` through memory.
double MemoryBoundTime(const DeviceShare& device, double bytes);

// Seconds of a flash kernel's forward, causal; the backward takes 2.5 times as long
// (FlashAttention-2, arXiv 2307.08691). The rate is attention_efficiency * s / (s + half_seq) of
// the peak for heads of 128, less for shorter ones, times the kernel's ratio.
double FlashForwardTime(const DeviceShare& device, AttentionKernel kernel,
                        const AttentionShape& shape);
inline constexpr double kAttentionBackwardRatio = 2.5;

// Seconds of attention that writes the score matrix out: two batched products over all keys and
// `traffic_bytes` per score. The backward takes twice the products and 1.5 times the traffic.
double UnfusedForwardTime(const DeviceShare& device, const AttentionShape& shape,
                          double traffic_bytes);
double UnfusedBackwardTime(const DeviceShare& device, const AttentionShape& shape,
                           double traffic_bytes);

}  // namespace meshwright::planner
