// Time of single operators on one device: the slower of arithmetic and memory traffic, never below
// a launch.
#pragma once

#include <cstdint>

#include "planner/spec/cluster_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright {

// One rank's part of the device it runs on.
struct DeviceShare {
  const HardwareProfile& device;
  Precision precision = Precision::kBf16;
  double share = 1.0;  // ThroughputShare()

  double PeakFlops() const { return device.PeakFlops(precision) * share; }
  double MemoryBytesPerS() const {
    return device.memory_bytes_per_s * device.memory_efficiency * share;
  }
};

// Share of the peak that an (m x k) times (k x n) product reaches: matmul_efficiency, less the idle
// part of the last wave of output tiles, less the ramp of short inner dimensions k / (k + 256).
double MatmulEfficiency(const HardwareProfile& device, int64_t m, int64_t n, int64_t k);

// Seconds of an (m x k) times (k x n) product.
double MatmulTime(const DeviceShare& device, int64_t m, int64_t n, int64_t k);

// Seconds of an operator that streams `bytes` through memory.
double MemoryBoundTime(const DeviceShare& device, double bytes);

// Seconds of the causal attention forward of `tokens` query tokens on one rank, each of which sees
// seq_len / 2 keys on average; the backward takes 2.5 times as long (FlashAttention-2).
double AttentionForwardTime(const DeviceShare& device, int64_t tokens, int64_t seq_len,
                            int64_t query_width);
inline constexpr double kAttentionBackwardRatio = 2.5;

}  // namespace meshwright
