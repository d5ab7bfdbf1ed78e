// Keeps one job in Slurm's queue for each agent of a fleet until it is told to stop.
#pragma once

#include "absl/status/status.h"
#include "tools/cli/launcher/slurm_jobs.h"

namespace meshwright::cli {

// Returns once the jobs are cancelled and have ended after a stop, OK even where some have not
// within a time, of which it warns. An error, with no job left in the queue that it submitted,
// where the queue can't be asked at the start, holds jobs of the same names, or every agent is
// given up.
absl::Status RunLaunch(const SlurmLaunch& launch, const LaunchWorld& world);

}  // namespace meshwright::cli
