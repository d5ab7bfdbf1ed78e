// Measures this machine's devices with micro-benchmarks: the plan that workers read, and the
// runner.
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
  double budget_s = 4.0;    // approximate time for measuring; starting the workers comes on top
  double timeout_s = 60.0;  // longest silence of any rank

  friend bool operator==(const BenchmarkPlan&, const BenchmarkPlan&) = default;
};

// The JSON form is nested under a key of its own, by which a worker tells it from a trial's plan.
nlohmann::json ToJson(const BenchmarkPlan& plan);
bool IsBenchmarkPlan(const nlohmann::json& json);
absl::StatusOr<BenchmarkPlan> BenchmarkPlanFromJson(const nlohmann::json& json);

// InvalidArgument naming the field, its value and the accepted values.
absl::Status Validate(const BenchmarkPlan& plan);

struct BenchmarkRunnerOptions {
  std::string worker_path;          // the meshwright-worker binary
  std::function<bool()> cancelled;  // may be empty
  // Called on the runner's thread with the number of cases measured or skipped; may be empty.
  std::function<void(int32_t done, int32_t cases)> progress;
};

// Spawns plan.ranks workers that measure together. The calling thread must outlive them. The caller
// fills in the result's `date`. Unavailable where a worker can't be started, DeadlineExceeded where
// one is silent for too long, Cancelled, or Internal with the tail of its output where one fails.
absl::StatusOr<planner::DeviceBenchmark> RunDeviceBenchmark(const BenchmarkPlan& plan,
                                                            const BenchmarkRunnerOptions& options);

}  // namespace meshwright::trial
