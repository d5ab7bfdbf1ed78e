// One rank of one trial, from the plan to the last event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "executor/trial/trial.h"
#include "executor/worker/event_writer.h"
#include "executor/worker/worker_hooks.h"

namespace meshwright {

// What torchrun's environment and the flags say.
struct WorkerEnvironment {
  int32_t rank = 0;
  int32_t local_rank = 0;
  int32_t world_size = 1;
  std::string master_address = "127.0.0.1";
  uint16_t master_port = 0;
  // A listening socket on master_port that rank 0 takes over; without it rank 0 opens one.
  std::optional<int> listen_descriptor;
};

// Runs the rank and reports through `events`. Returns the process' exit code: 0 when all steps ran.
// Catches everything that Torch throws.
int RunWorker(const TrialPlan& plan, const WorkerEnvironment& environment,
              const EventWriter& events, const WorkerHooks& hooks);

}  // namespace meshwright
