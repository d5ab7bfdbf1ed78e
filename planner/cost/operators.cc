#include "planner/cost/operators.h"

#include <algorithm>

#include "planner/block/pass.h"

namespace meshwright::planner {
namespace {

// Returns the share of a matmul's rate that is left with an inner dimension of k.
double InnerRamp(const HardwareProfile& device, double k) { return k / (k + device.matmul_half_k); }

// Returns the share of its peak that a product in the format `inputs` reaches, divided by the share
// that a bf16 product reaches. The time that half_k stands for is the same in any format.
double NarrowRatio(const HardwareProfile& device, NumberFormat inputs, double k) {
  if (inputs != NumberFormat::kFp8 && inputs != NumberFormat::kFp4) return 1.0;
  const double faster = device.PeakFlops(inputs) / device.PeakHalfFlops();
  return device.narrow_matmul_ratio * (k + device.matmul_half_k) /
         (k + faster * device.matmul_half_k);
}

int64_t DivideUp(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// Returns one of the products that share rows or inputs.
MatmulShape OneOf(const MatmulShape& product) {
  MatmulShape one = product;
  one.groups = 1;
  int64_t& shared = product.shares_inputs ? one.inputs : one.rows;
  shared = DivideUp(shared, product.groups);
  return one;
}

}  // namespace

double MatmulEfficiency(const HardwareProfile& device, const MatmulShape& product) {
  const MatmulShape each = OneOf(product);
  const int64_t tiles =
      product.groups * DivideUp(each.rows, device.tile_m) * DivideUp(each.outputs, device.tile_n);
  const int64_t waves = DivideUp(tiles, device.compute_units);
  const double results = product.shares_inputs ? static_cast<double>(product.groups) : 1.0;
  const double filled = results * static_cast<double>(product.rows) *
                        static_cast<double>(product.outputs) /
                        (static_cast<double>(waves) * device.compute_units *
                         static_cast<double>(device.tile_m) * device.tile_n);
  return device.matmul_efficiency * filled * InnerRamp(device, static_cast<double>(each.inputs));
}

double MatmulTime(const DeviceShare& device, NumberFormat inputs, const MatmulShape& product) {
  const PassWork work = ProductWork(product, BytesOf(inputs));
  const double share =
      std::min(device.matmul_share * MatmulEfficiency(device.device, product),
               device.device.matmul_limit) *
      NarrowRatio(device.device, inputs, static_cast<double>(OneOf(product).inputs));
  const double arithmetic_s = work.flops / (device.PeakFlops(inputs) * share);
  const double traffic_s = work.bytes / device.MemoryBytesPerS();
  return std::max({arithmetic_s, traffic_s, device.device.kernel_launch_s});
}

double MatmulTime(const DeviceShare& device, const MatmulShape& product) {
  return MatmulTime(device, device.formats.matmul_inputs.forward, product);
}

double CoreTime(const DeviceShare& device, double flops) {
  const double share = kCoreShare * std::min(device.matmul_share * device.device.matmul_efficiency,
                                             device.device.matmul_limit);
  return std::max(flops / (device.PeakFlops() * share), device.device.kernel_launch_s);
}

double MemoryBoundTime(const DeviceShare& device, double bytes) {
  return std::max(bytes / device.MemoryBytesPerS(), device.device.kernel_launch_s);
}

double FlashForwardTime(const DeviceShare& device, AttentionKernel kernel,
                        const AttentionShape& shape) {
  const HardwareProfile& profile = device.device;
  // A ring's kernels see one block of the sequence at a time.
  const auto blocks = static_cast<double>(shape.key_blocks);
  const double s = static_cast<double>(shape.keys) / blocks;
  const auto d = static_cast<double>(shape.head_dim);
  // Published rates for heads of 64 are 0.9 of those for 128.
  const double head_share = std::min(1.0, d / (d + 16.0) * (128.0 + 16.0) / 128.0);
  const double efficiency = profile.attention_efficiency * profile.AttentionRatio(kernel) *
                            head_share * s / (s + profile.attention_half_seq);
  const double flops = CausalAttentionFlops(shape);
  return std::max(flops / (device.PeakFlops() * efficiency), blocks * profile.kernel_launch_s);
}

namespace {

double ScoreProductTime(const DeviceShare& device, const AttentionShape& shape) {
  const double scores = static_cast<double>(shape.tokens) * static_cast<double>(shape.keys) *
                        static_cast<double>(shape.heads);
  const auto d = static_cast<double>(shape.head_dim);
  const double rate =
      device.PeakFlops() * device.device.matmul_efficiency * InnerRamp(device.device, d);
  return 4.0 * scores * d / rate;
}

double ScoreTrafficTime(const DeviceShare& device, const AttentionShape& shape,
                        double traffic_bytes) {
  return MemoryBoundTime(device, traffic_bytes * static_cast<double>(shape.tokens) *
                                     static_cast<double>(shape.keys) *
                                     static_cast<double>(shape.heads));
}

}  // namespace

double UnfusedForwardTime(const DeviceShare& device, const AttentionShape& shape,
                          double traffic_bytes) {
  return ScoreProductTime(device, shape) + ScoreTrafficTime(device, shape, traffic_bytes);
}

double UnfusedBackwardTime(const DeviceShare& device, const AttentionShape& shape,
                           double traffic_bytes) {
  return 2.0 * ScoreProductTime(device, shape) +
         kScoreBackwardRatio * ScoreTrafficTime(device, shape, traffic_bytes);
}

}  // namespace meshwright::planner
