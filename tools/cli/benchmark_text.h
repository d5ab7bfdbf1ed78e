// What a device benchmark measured, and the profile that follows, for people.
#pragma once

#include <ostream>

#include "planner/calibration/cluster_from_benchmark.h"
#include "planner/measurement/device_benchmark.h"

namespace meshwright {

// Tables of products, copies and collectives, then the fitted constants.
void PrintDeviceBenchmark(const DeviceBenchmark& benchmark, const BenchmarkedCluster& made,
                          std::ostream& out);

// One line: the peaks, the memory bandwidth and the link.
std::string SummaryOf(const ClusterSpec& cluster);

}  // namespace meshwright
