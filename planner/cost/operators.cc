#include "planner/cost/operators.h"

#include <algorithm>

namespace meshwright {
namespace {

int64_t DivideUp(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

}  // namespace

double MatmulEfficiency(const HardwareProfile& device, int64_t m, int64_t n, int64_t k) {
  const int64_t tiles = DivideUp(m, device.tile_m) * DivideUp(n, device.tile_n);
  const int64_t waves = DivideUp(tiles, device.compute_units);
  const double filled = static_cast<double>(m) * static_cast<double>(n) /
                        (static_cast<double>(waves) * device.compute_units *
                         static_cast<double>(device.tile_m) * device.tile_n);
  const double ramp = static_cast<double>(k) / static_cast<double>(k + 256);
  return device.matmul_efficiency * filled * ramp;
}

double MatmulTime(const DeviceShare& device, int64_t m, int64_t n, int64_t k) {
  const auto dm = static_cast<double>(m);
  const auto dn = static_cast<double>(n);
  const auto dk = static_cast<double>(k);
  const double arithmetic_s =
      2.0 * dm * dn * dk / (device.PeakFlops() * MatmulEfficiency(device.device, m, n, k));
  const double traffic_s = (dm * dk + dk * dn + dm * dn) *
                           static_cast<double>(ElementBytes(device.precision)) /
                           device.MemoryBytesPerS();
  return std::max({arithmetic_s, traffic_s, device.device.kernel_launch_s});
}

double MemoryBoundTime(const DeviceShare& device, double bytes) {
  return std::max(bytes / device.MemoryBytesPerS(), device.device.kernel_launch_s);
}

double AttentionForwardTime(const DeviceShare& device, int64_t tokens, int64_t seq_len,
                            int64_t query_width) {
  const double flops = 2.0 * static_cast<double>(tokens) * static_cast<double>(seq_len) *
                       static_cast<double>(query_width);
  const auto s = static_cast<double>(seq_len);
  const double efficiency =
      device.device.attention_efficiency * s / (s + device.device.attention_half_seq);
  return std::max(flops / (device.PeakFlops() * efficiency), device.device.kernel_launch_s);
}

}  // namespace meshwright
