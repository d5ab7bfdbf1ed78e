// Turns micro-benchmarks of one host into a cluster that the planner can use: a measured hardware
// profile.
//
// Constants are fitted through the cost model's own formulas, so that the planner predicts the
// times that were measured.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/calibration/log_fit.h"
#include "planner/measurement/device_benchmark.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// The source of what one host can't measure: links between hosts, attention, the spread of step
// times.
struct BenchmarkBase {
  ClusterSpec cluster;
  // Whether the cluster describes the device that was measured. Its data-sheet peaks are then kept,
  // and efficiencies are the measured shares of them.
  bool same_device = false;
};

// Returns the base among `known`: for processors the cluster of processor cores; for a GPU the one
// whose GPU name is the longest contained in the device's, with memory as the tie-break, or
// otherwise the one with the nearest memory. NotFound where `known` has none of the kind.
absl::StatusOr<BenchmarkBase> BaseFor(const DeviceBenchmark& benchmark,
                                      const std::vector<ClusterSpec>& known);

struct BenchmarkedCluster {
  ClusterSpec cluster;
  // Errors of the planner's predictions against the measurements.
  LogFitErrors matmuls;
  LogFitErrors collectives;  // without rows where there was one device
};

// Returns the cluster; its `source` says what was measured, where and when, and what comes from the
// base. InvalidArgument where the benchmark has no product or no copy on all devices at once.
absl::StatusOr<BenchmarkedCluster> ClusterFromBenchmark(const DeviceBenchmark& benchmark,
                                                        const BenchmarkBase& base,
                                                        const std::string& name);

}  // namespace meshwright::planner
