#include "tools/cli/sweep/sweep_calls.h"

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"

namespace meshwright::cli {
namespace {

constexpr int32_t kTrialPageSize = 1000;

}  // namespace

absl::StatusOr<SweepsStub> DialSweeps(const ServerFlags& server) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(server));
  return v1::Sweeps::NewStub(channel);
}

absl::StatusOr<std::string> SweepId(const std::string& typed) {
  const std::string name = typed.starts_with("sweeps/") ? typed : FormatSweepName(typed);
  const absl::StatusOr<std::string> id = ParseSweepName(name);
  return id.ok() ? id : WithField(id.status(), "name");
}

absl::Status CheckNewSweepName(const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  const absl::Status status = CheckSweepId(name);
  return status.ok() ? status : WithField(status, "name");
}

absl::StatusOr<v1::Sweep> ReadSweep(v1::Sweeps::Stub& stub, const std::string& id) {
  v1::GetSweepRequest request;
  request.set_name(FormatSweepName(id));
  return Call(stub, &v1::Sweeps::Stub::GetSweep, request);
}

absl::StatusOr<std::vector<TrialView>> ReadTrials(v1::Sweeps::Stub& stub, const std::string& id) {
  std::vector<TrialView> trials;
  v1::ListTrialsRequest request;
  request.set_parent(FormatSweepName(id));
  request.set_page_size(kTrialPageSize);
  request.set_order_by("step_s");
  do {
    ASSIGN_OR_RETURN(const v1::ListTrialsResponse page,
                     Call(stub, &v1::Sweeps::Stub::ListTrials, request));
    for (const v1::Trial& trial : page.trials()) trials.push_back(ViewOf(trial));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return trials;
}

absl::StatusOr<v1::SweepPlan> ReadPlan(v1::Sweeps::Stub& stub, const std::string& id,
                                       int32_t trials) {
  v1::GetSweepPlanRequest request;
  request.set_name(FormatSweepName(id));
  request.set_trials(trials);
  return Call(stub, &v1::Sweeps::Stub::GetSweepPlan, request);
}

}  // namespace meshwright::cli
