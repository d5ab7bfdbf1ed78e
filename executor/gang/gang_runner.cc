#include "executor/gang/gang_runner.h"

namespace meshwright::gang {

trial::TrialResult RunMember(const trial::TrialPlan& plan, const Membership& membership,
                             const trial::TrialRunnerOptions& options, const Timing& timing) {
  const absl::Status valid = Validate(membership, plan.layout.devices());
  if (!valid.ok()) return trial::FailedResult(valid.message(), trial::Fault::kInfrastructure);
  return membership.leads() ? Lead(plan, membership, options, timing)
                            : Follow(plan, membership, options, timing);
}

}  // namespace meshwright::gang
