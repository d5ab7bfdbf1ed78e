// Keeps one job in Slurm's queue for each agent of a fleet until it is told to stop.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "executor/host/log.h"
#include "executor/host/monotonic_time.h"
#include "tools/cli/launcher/agent_fleet.h"
#include "tools/cli/launcher/batch_script.h"
#include "tools/cli/launcher/slurm_queue.h"

namespace meshwright::cli {

struct SlurmLaunch {
  AgentFleet fleet;
  SlurmJobFlags job;
  std::string program;  // path of `meshwright` on the nodes
  absl::Duration poll;  // between two looks at the queue
  SlotPolicy policy = {};
};

// What it uses of the world.
struct LaunchWorld {
  SlurmQueue queue;
  host::LogFunction log;
  host::MonotonicClock clock;
  std::function<void(absl::Duration)> sleep;
  std::function<bool()> stopped;
};

// Returns once the jobs are cancelled and have ended after a stop, OK even where some have not
// within a time, of which it warns. An error, with no job left in the queue that it submitted,
// where the queue can't be asked at the start, holds jobs of the same names, or every agent is
// given up.
absl::Status RunLaunch(const SlurmLaunch& launch, const LaunchWorld& world);

}  // namespace meshwright::cli
