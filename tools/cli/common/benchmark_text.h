// PrintDeviceBenchmark() prints the measurements of a device benchmark and the resulting profile as
// text.
#pragma once

#include <ostream>

#include "planner/calibration/cluster_from_benchmark.h"
#include "planner/measurement/device_benchmark.h"

namespace meshwright::cli {

// Prints tables of products, copies and collectives, then the fitted constants.
void PrintDeviceBenchmark(const planner::DeviceBenchmark& benchmark,
                          const planner::BenchmarkedCluster& made, std::ostream& out);

// Returns one line with the peaks, the memory bandwidth and the link.
std::string SummaryOf(const planner::ClusterSpec& cluster);

}  // namespace meshwright::cli
