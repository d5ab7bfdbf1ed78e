#include "executor/gang/gang_runner.h"

#include "executor/gang/worker_part.h"

namespace meshwright::gang {

trial::TrialResult RunMember(const trial::TrialPlan& plan, const Membership& membership,
                             const trial::TrialRunnerOptions& options, const Timing& timing) {
  WorkerPart part(plan, membership, options);
  return RunMember(part, plan.layout.devices(), membership, options, timing);
}

trial::TrialResult RunMember(HostPart& part, int64_t devices, const Membership& membership,
                             const trial::TrialRunnerOptions& options, const Timing& timing) {
  const absl::Status valid = Validate(membership, devices);
  if (!valid.ok()) return trial::FailedResult(valid.message(), trial::Fault::kInfrastructure);
  return membership.leads() ? Lead(part, membership, options, timing)
                            : Follow(part, membership, options, timing);
}

}  // namespace meshwright::gang
