// Keeps one job in Slurm's queue for each agent of a fleet until it is told to stop.
#pragma once

#include "absl/status/status.h"
#include "tools/cli/launcher/slurm_jobs.h"

namespace meshwright::cli {

// After a stop, returns once the jobs are cancelled and have ended; OK also where some have not
// within a timeout, of which it warns. An error, with none of its jobs left in the queue, where the
// queue can't be queried at the start, has jobs of the same names, or every agent is given up.
absl::Status RunLaunch(const SlurmLaunch& launch, const LaunchWorld& world);

}  // namespace meshwright::cli
