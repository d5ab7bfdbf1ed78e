// MeasureWhileQuiet() repeats a benchmark if other programs kept the machine busy, since such a
// benchmark measures only the capacity that these programs left.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "planner/measurement/device_benchmark.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::cli {

// A benchmark is quiet if at least this share of processor time was idle before and after it.
inline constexpr double kQuietIdleShare = 0.75;
inline constexpr int32_t kMostBenchmarks = 3;

struct QuietBenchmark {
  planner::DeviceBenchmark benchmark;
  double idle_share = 1.0;  // least share before and after, 0 to 1

  bool quiet() const { return idle_share >= kQuietIdleShare; }
};

// Runs `measure` until a run is quiet, at most kMostBenchmarks times, and returns the run with the
// largest idle share. `idle_share` returns the share of processor time that is idle now. After each
// run that is not quiet, `on_busy` gets the largest idle share of a run so far. Returns the first
// error of `measure`.
absl::StatusOr<QuietBenchmark> MeasureWhileQuiet(
    absl::FunctionRef<absl::StatusOr<planner::DeviceBenchmark>()> measure,
    absl::FunctionRef<double()> idle_share, absl::FunctionRef<void(double idle_share)> on_busy);

// Marks a cluster whose benchmark was not quiet: the cluster's source says so, and its evidence
// becomes an assumption, which widens the intervals of estimates.
void MarkBusy(double idle_share, planner::ClusterSpec& cluster);

}  // namespace meshwright::cli
