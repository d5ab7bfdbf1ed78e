// Micro-benchmarks of this machine's devices: the plan that workers read, and the runner.
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
  double budget_s = 4.0;    // what measuring may take, about; starting the workers comes on top
  double timeout_s = 60.0;  // longest wait for the next sign of life of any rank

  friend bool operator==(const BenchmarkPlan&, const BenchmarkPlan&) = default;
};

// The JSON form stands under a key of its own, by which a worker tells it from a trial's plan.
nlohmann::json ToJson(const BenchmarkPlan& plan);
bool IsBenchmarkPlan(const nlohmann::json& json);
absl::StatusOr<BenchmarkPlan> BenchmarkPlanFromJson(const nlohmann::json& json);

// InvalidArgument naming the field, its value and what would be accepted.
absl::Status Validate(const BenchmarkPlan& plan);

struct BenchmarkRunnerOptions {
  std::string worker_path;          // the meshwright-worker binary
  std::function<bool()> cancelled;  // may be empty
  // Cases that are done or passed over; may be empty. Called on the runner's thread.
  std::function<void(int32_t done, int32_t cases)> progress;
};

// Spawns plan.ranks workers that measure together. The calling thread must outlive them. `date` of
// the result is the caller's to fill in. Unavailable when a worker can't be started,
// DeadlineExceeded when one gives no sign of life, Cancelled, and Internal, with the end of its
// output, when one fails.
absl::StatusOr<planner::DeviceBenchmark> RunDeviceBenchmark(const BenchmarkPlan& plan,
                                                            const BenchmarkRunnerOptions& options);

}  // namespace meshwright::trial
