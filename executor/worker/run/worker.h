// RunWorker() runs one rank of one trial, from the plan to the last event.
#pragma once

#include <cstdint>
#include <functional>

#include "executor/trial/trial.h"
#include "executor/worker/observe/event_writer.h"
#include "executor/worker/run/worker_environment.h"

namespace meshwright::worker {

class Trainer;

// Functions that are called during a rank's run. The worker itself sets none; tests use them to
// provoke failures and to inspect state.
struct WorkerHooks {
  std::function<void(Trainer& trainer)> before_training;        // may be empty
  std::function<void(int32_t rank, int32_t step)> before_step;  // from step 0; may be empty
};

// Runs the rank and reports through `events`. Returns the process's exit code, which is 0 if all
// steps ran. Catches all of Torch's exceptions.
int RunWorker(const trial::TrialPlan& plan, const WorkerEnvironment& environment,
              const EventWriter& events, const WorkerHooks& hooks);

}  // namespace meshwright::worker
