// The measured hardware profile of this machine's devices: where it comes from, and where it is
// kept.
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

// Runs the benchmark, dates it, and reports as RunDeviceBenchmark() does.
absl::StatusOr<planner::DeviceBenchmark> MeasureDevices(
    const trial::BenchmarkPlan& plan, const trial::BenchmarkRunnerOptions& options);

// The clusters that may say what can't be measured: `base`, a preset or a file, or every preset
// where that is empty.
absl::StatusOr<std::vector<planner::ClusterSpec>> BaseClusters(CommandFiles& files,
                                                               const std::string& base,
                                                               int32_t host_cores);

// The cluster that follows, named after the host and its devices; the nearest of `known` says what
// can't be measured.
absl::StatusOr<planner::BenchmarkedCluster> ProfileOf(
    const planner::DeviceBenchmark& benchmark, const std::vector<planner::ClusterSpec>& known);

// A file in `folder` keeps the benchmark of this host and of as many devices of a kind.
std::string KeptBenchmarkPath(const std::string& folder, const trial::BenchmarkPlan& plan);

// The benchmark that the file holds, where it is one of this host, these devices, this many cores
// and this version.
std::optional<planner::DeviceBenchmark> ReadKeptBenchmark(const std::string& path,
                                                          const trial::BenchmarkPlan& plan);
absl::Status KeepBenchmark(const std::string& path, const planner::DeviceBenchmark& benchmark);

}  // namespace meshwright::cli
