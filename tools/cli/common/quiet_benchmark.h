// MeasureWhileQuiet() repeats a benchmark while other programs keep the machine busy: a benchmark
// beside them measures what they leave.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "planner/measurement/device_benchmark.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::cli {

// From this share of idle processor time on, before and after a benchmark, its figures count.
inline constexpr double kQuietIdleShare = 0.75;
inline constexpr int32_t kMostBenchmarks = 3;

struct QuietBenchmark {
  planner::DeviceBenchmark benchmark;
  double idle_share = 1.0;  // of processor time beside the benchmark, 0 to 1

  bool quiet() const { return idle_share >= kQuietIdleShare; }
};

// Runs `measure` until the machine was quiet before and after it, at most kMostBenchmarks times,
// and returns the run beside which the processors were idle most. `idle_share` returns the share of
// processor time that is idle now. After each run until a quiet one, `on_busy` gets the largest
// share beside a run so far. Returns the first error of `measure`.
absl::StatusOr<QuietBenchmark> MeasureWhileQuiet(
    absl::FunctionRef<absl::StatusOr<planner::DeviceBenchmark>()> measure,
    absl::FunctionRef<double()> idle_share, absl::FunctionRef<void(double idle_share)> on_busy);

// Marks a cluster whose benchmark ran beside other programs: its source says so, and its evidence
// is an assumption, which widens the interval of its estimates.
void MarkBusy(double idle_share, planner::ClusterSpec& cluster);

}  // namespace meshwright::cli
