#include "planner/calibration/constants.h"

#include <algorithm>
#include <cmath>

namespace meshwright::planner {
namespace {

// One line per constant: its name, uncertainty, bounds and field.
#define MESHWRIGHT_CLUSTER_CONSTANT(name, sigma, low, high, place)            \
  CalibrationConstant {                                                       \
    name, sigma, low, high, false,                                            \
        [](ClusterSpec& c, FrameworkProfile&) -> double* { return &c.place; } \
  }
#define MESHWRIGHT_FRAMEWORK_CONSTANT(part, name, sigma, low, high)                \
  CalibrationConstant {                                                            \
#name, sigma, low, high, true,                                                 \
        [](ClusterSpec&, FrameworkProfile & p) -> double* { return &p.part.name; } \
  }
#define MESHWRIGHT_FRAMEWORK_SHARE(part, name, sigma, low, high)                         \
  CalibrationConstant {                                                                  \
#name, sigma, low, high, true,                                                       \
        [](ClusterSpec&, FrameworkProfile & p) -> double* { return &p.part.name; }, true \
  }

// The standard deviation between machines of one kind, or between versions of a framework, due to
// power limits, clocks and cabling. A fit describes its own machines; another machine adds this
// uncertainty.
constexpr double kMachineSigma = 0.03;

// Share of the prior's standard deviation at which the rows have halved the variance.
constexpr double kDecidedShare = 0.7;

std::vector<CalibrationConstant> MakeConstants() {
  return {
      MESHWRIGHT_CLUSTER_CONSTANT("matmul_efficiency", 0.1, 0.3, 0.98, device.matmul_efficiency),
      MESHWRIGHT_CLUSTER_CONSTANT("memory_efficiency", 0.15, 0.3, 1.0, device.memory_efficiency),
      MESHWRIGHT_CLUSTER_CONSTANT("attention_efficiency", 0.15, 0.1, 0.95,
                                  device.attention_efficiency),
      MESHWRIGHT_CLUSTER_CONSTANT("narrow_matmul_ratio", 0.15, 0.3, 1.0,
                                  device.narrow_matmul_ratio),
      MESHWRIGHT_CLUSTER_CONSTANT("flash1_ratio", 0.15, 0.2, 1.0, device.flash1_ratio),
      MESHWRIGHT_CLUSTER_CONSTANT("straggler_sigma", 0.3, 0.001, 0.05, device.straggler_sigma),
      MESHWRIGHT_CLUSTER_CONSTANT("scale_up_efficiency", 0.15, 0.2, 0.92, scale_up.efficiency),
      MESHWRIGHT_CLUSTER_CONSTANT("scale_out_efficiency", 0.2, 0.1, 0.92, scale_out.efficiency),
      MESHWRIGHT_CLUSTER_CONSTANT("scale_out_step_overhead_s", 0.7, 1e-7, 1e-4,
                                  scale_out.step_overhead_s),
      MESHWRIGHT_FRAMEWORK_SHARE(traffic, matmul_share, 0.15, 0.3, 1.3),
      MESHWRIGHT_FRAMEWORK_SHARE(communication, network_share, 0.3, 0.05, 1.15),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, eager_norm_traffic_bytes, 0.5, 4.0, 200.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, fused_softmax_traffic_bytes, 0.5, 1.0, 100.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, eager_attention_traffic_bytes, 0.5, 2.0, 200.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, loss_traffic_bytes, 0.5, 4.0, 200.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, network_contention, 0.5, 0.01, 1.5),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, data_parallel_overlap, 0.7, 0.01, 0.98),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, all_reduce_overlap, 0.7, 0.01, 0.98),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, tensor_parallel_overlap, 0.7, 0.01, 0.98),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, all_reduces_per_layer, 0.7, 0.01, 20.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, shard_collectives_per_layer, 0.7, 0.01, 20.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, network_step_s, 1.0, 1e-7, 1e-3),
      MESHWRIGHT_FRAMEWORK_CONSTANT(kept, pressure_slope, 0.5, 0.01, 3.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, operator_host_s, 0.7, 1e-6, 0.001),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, host_share, 0.5, 0.01, 20.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, expert_launch_s, 0.7, 1e-6, 1e-3),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, expert_bias_traffic_bytes, 0.7, 6.0, 1000.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, recurrence_ratio, 0.5, 0.5, 20.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, expert_load_spread, 0.5, 0.01, 5.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, tp_hop_s, 0.7, 1e-7, 0.01),
      MESHWRIGHT_FRAMEWORK_CONSTANT(communication, pipeline_hop_s, 0.7, 1e-6, 5.0),
      MESHWRIGHT_FRAMEWORK_CONSTANT(traffic, step_overhead_s, 0.7, 1e-5, 10.0),
  };
}

#undef MESHWRIGHT_CLUSTER_CONSTANT
#undef MESHWRIGHT_FRAMEWORK_CONSTANT
#undef MESHWRIGHT_FRAMEWORK_SHARE

const CalibratedConstant* Recorded(const Calibration& calibration, std::string_view name) {
  for (const CalibratedConstant& constant : calibration.constants) {
    if (constant.name == name) return &constant;
  }
  return nullptr;
}

}  // namespace

const std::vector<CalibrationConstant>& CalibrationConstants() {
  static const auto* const kConstants = new std::vector<CalibrationConstant>(MakeConstants());
  return *kConstants;
}

ConstantPrior PriorOf(const CalibrationConstant& constant, const ClusterSpec& cluster,
                      const FrameworkProfile& profile, PriorSource source) {
  // The accessor takes mutable specs; copies are cheap compared with a fit.
  ClusterSpec cluster_copy = cluster;
  FrameworkProfile profile_copy = profile;
  const double value = *constant.field(cluster_copy, profile_copy);
  const Calibration& calibration =
      constant.of_framework ? profile.calibration : cluster.calibration;
  const CalibratedConstant* before = Recorded(calibration, constant.name);
  if (before == nullptr) return {value, constant.prior_sigma};
  if (source == PriorSource::kRecorded) return {before->prior, before->prior_sigma};
  return {value, std::min(constant.prior_sigma, std::hypot(before->sigma, kMachineSigma))};
}

bool Moved(const CalibratedConstant& constant) {
  return std::abs(std::log(constant.value / constant.prior)) > kMachineSigma;
}

bool RowsDecided(const CalibratedConstant& constant) {
  return !constant.at_bound && constant.sigma < kDecidedShare * constant.prior_sigma;
}

}  // namespace meshwright::planner
