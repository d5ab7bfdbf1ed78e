// RunDeviceBenchmark() measures this machine's devices with micro-benchmarks, which worker
// processes run as a BenchmarkPlan says.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "executor/trial/trial.h"
#include "planner/measurement/device_benchmark.h"

namespace meshwright::trial {

struct BenchmarkPlan {
  planner::DeviceKind device = planner::DeviceKind::kCpu;
  int32_t ranks = 1;
  double budget_s = 4.0;    // approximate time for measuring, without the start of the workers
  double timeout_s = 60.0;  // longest silence of any rank

  friend bool operator==(const BenchmarkPlan&, const BenchmarkPlan&) = default;
};

// Returns the plan nested under one key, by which a worker distinguishes it from a trial's plan.
nlohmann::json ToJson(const BenchmarkPlan& plan);
// Returns whether `json` has that key.
bool IsBenchmarkPlan(const nlohmann::json& json);
absl::StatusOr<BenchmarkPlan> BenchmarkPlanFromJson(const nlohmann::json& json);

// Returns InvalidArgument if a field is out of range, naming the field, its value and the accepted
// values.
absl::Status Validate(const BenchmarkPlan& plan);

struct BenchmarkRunnerOptions {
  std::string worker_path;          // the meshwright-worker binary
  std::function<bool()> cancelled;  // may be empty
  // Called on the runner's thread with the number of cases that are done (measured or skipped) and
  // the number of all cases; may be empty.
  std::function<void(int32_t done, int32_t cases)> progress;
};

// Spawns plan.ranks workers that measure together, and returns their measurements. The caller fills
// in the result's `date`. Returns the error of Validate() if there is one, Unavailable if a worker
// can't be started, DeadlineExceeded if a worker is silent for too long, Internal with the tail of
// its output if a worker fails, and Cancelled if options.cancelled returns true. REQUIRES: the
// calling thread outlives the workers.
absl::StatusOr<planner::DeviceBenchmark> RunDeviceBenchmark(const BenchmarkPlan& plan,
                                                            const BenchmarkRunnerOptions& options);

}  // namespace meshwright::trial
