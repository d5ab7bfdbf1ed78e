#include "tools/cli/launcher/slurm_launcher.h"

#include "base/text/status_macros.h"

namespace meshwright::cli {

absl::Status RunLaunch(const SlurmLaunch& launch, const LaunchWorld& world) {
  SlurmJobs jobs(launch, world);
  RETURN_IF_ERROR(jobs.Begin());
  absl::Status given_up;
  while (!world.stopped() && given_up.ok()) {
    jobs.Look();
    given_up = jobs.agent_jobs().GivenUp();
    if (given_up.ok()) jobs.Wait();
  }
  jobs.End();
  return given_up;
}

}  // namespace meshwright::cli
