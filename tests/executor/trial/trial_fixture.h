// Trials of the tiny model on this machine, with the worker that was built beside the tests.
#pragma once

#include <cstdlib>
#include <string>

#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"
#include "tests/executor/test_models.h"

namespace meshwright {

inline std::string WorkerPath() {
  const char* folder = std::getenv("MESHWRIGHT_BIN_DIR");
  return std::string(folder == nullptr ? "." : folder) + "/meshwright-worker";
}

inline TrialPlan TinyPlan(const Layout& layout, int32_t steps = 2) {
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

}  // namespace meshwright
