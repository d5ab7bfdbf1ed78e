#include "executor/gang/gang_runner.h"

#include <string>

namespace meshwright::gang {

trial::TrialResult RunMember(const trial::TrialPlan& plan, const Place& place,
                             const trial::TrialRunnerOptions&, const Timing&) {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kFailed;
  result.fault = trial::Fault::kLayout;
  const absl::Status valid = Validate(place, plan.layout.devices());
  result.message = valid.ok() ? "gangs can't run yet" : std::string(valid.message());
  return result;
}

}  // namespace meshwright::gang
