#include "executor/gang/gang_runner.h"

#include "executor/gang/follower.h"
#include "executor/gang/leader.h"

namespace meshwright::gang {

trial::TrialResult RunMember(const trial::TrialPlan& plan, const Membership& place,
                             const trial::TrialRunnerOptions& options, const Timing& timing) {
  const absl::Status valid = Validate(place, plan.layout.devices());
  if (!valid.ok()) return trial::FailedResult(valid.message(), trial::Fault::kInfrastructure);
  return place.leads() ? Lead(plan, place, options, timing) : Follow(plan, place, options, timing);
}

}  // namespace meshwright::gang
