// These functions benchmark this machine's devices, keep the result, and derive the devices'
// hardware profile from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/trial/device_benchmark.h"
#include "planner/calibration/cluster_from_benchmark.h"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

// Runs RunDeviceBenchmark() with these options, and sets the date of its result.
absl::StatusOr<planner::DeviceBenchmark> MeasureDevices(
    const trial::BenchmarkPlan& plan, const trial::BenchmarkRunnerOptions& options);

// Returns the clusters that may supply constants that can't be measured: the preset or file `base`,
// or every preset if `base` is empty.
absl::StatusOr<std::vector<planner::ClusterSpec>> BaseClusters(CommandFiles& files,
                                                               const std::string& base,
                                                               int32_t host_cores);

// Returns the cluster derived from the benchmark, named after the host and its devices. The nearest
// of `known` supplies the constants that can't be measured.
absl::StatusOr<planner::BenchmarkedCluster> ProfileOf(
    const planner::DeviceBenchmark& benchmark, const std::vector<planner::ClusterSpec>& known);

// Returns the path of the file in `folder` for the benchmark of this host with the plan's kind and
// number of devices.
std::string KeptBenchmarkPath(const std::string& folder, const trial::BenchmarkPlan& plan);

// Returns the benchmark in the file if it was measured on this host with its present number of
// cores, with the plan's devices, and by this version of the worker. Returns nullopt otherwise.
std::optional<planner::DeviceBenchmark> ReadKeptBenchmark(const std::string& path,
                                                          const trial::BenchmarkPlan& plan);
// Writes the benchmark to the file, and creates the file's folder if necessary.
absl::Status KeepBenchmark(const std::string& path, const planner::DeviceBenchmark& benchmark);

}  // namespace meshwright::cli
