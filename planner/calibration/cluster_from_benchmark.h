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

// The cluster that supplies the figures that a benchmark of one host can't measure: links between
// hosts, attention, the spread of step times.
struct BenchmarkBase {
  ClusterSpec cluster;
  // If true, the cluster describes the device that was measured. The cluster's data-sheet peaks are
  // kept, and efficiencies are the measured shares of these peaks.
  bool same_device = false;
};

// Returns the base among the clusters of `known` that have the benchmark's kind of device. The base
// is the cluster with the longest GPU name that the device's name contains. If several clusters
// have such a name of the same length, or none has one, the cluster with the nearest memory size is
// the base. Returns NotFound if no cluster has that kind of device.
absl::StatusOr<BenchmarkBase> BaseFor(const DeviceBenchmark& benchmark,
                                      const std::vector<ClusterSpec>& known);

struct BenchmarkedCluster {
  ClusterSpec cluster;
  // Errors of the planner's predictions against the measurements.
  LogFitErrors matmuls;
  LogFitErrors collectives;  // has no rows if there was only one device
};

// Returns the cluster. Its `source` says what was measured, where and when, and what comes from the
// base. Returns InvalidArgument if the benchmark has no matrix product or no copy that ran on all
// devices simultaneously.
absl::StatusOr<BenchmarkedCluster> ClusterFromBenchmark(const DeviceBenchmark& benchmark,
                                                        const BenchmarkBase& base,
                                                        const std::string& name);

}  // namespace meshwright::planner
