// One rank of one trial, from the plan to the last event.
#pragma once

#include "executor/trial/trial.h"
#include "executor/worker/observe/event_writer.h"
#include "executor/worker/run/worker_environment.h"
#include "executor/worker/run/worker_hooks.h"

namespace meshwright::worker {

// Runs the rank and reports through `events`. Returns the process's exit code: 0 when all steps
// ran. Catches all of Torch's exceptions.
int RunWorker(const trial::TrialPlan& plan, const WorkerEnvironment& environment,
              const EventWriter& events, const WorkerHooks& hooks);

}  // namespace meshwright::worker
