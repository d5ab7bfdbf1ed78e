// RunHere() and RunWith() run trials of the tiny model on this machine.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"
#include "tests/executor/test_models.h"
#include "tests/executor/trial/test_hooks.h"

namespace meshwright::trial {

inline std::string WorkerPath() {
  const char* folder = std::getenv("MESHWRIGHT_BIN_DIR");
  return std::string(folder == nullptr ? "." : folder) + "/meshwright-worker";
}

// Returns the path of the worker with hooks, which is in the folder of the tests, with a link to
// the CUDA module.
inline std::string TestWorkerPath() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "meshwright-test-worker";
}

inline TrialPlan TinyPlan(const planner::Layout& layout, int32_t steps = 2) {
  TrialPlan plan;
  plan.model = TinyModel();
  plan.training = TinyTraining();
  plan.layout = layout;
  plan.steps = steps;
  plan.seed = 11;
  plan.timeout_s = 60.0;
  return plan;
}

inline TrialResult RunHere(const TrialPlan& plan) {
  return RunTrial(plan, {.worker_path = WorkerPath(), .progress = {}});
}

inline TrialResult RunWith(const TestHooks& hooks, const TrialPlan& plan) {
  const ScopedTestHooks scope(hooks);
  return RunTrial(plan, {.worker_path = TestWorkerPath(), .progress = {}});
}

}  // namespace meshwright::trial
