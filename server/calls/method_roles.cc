#include "server/calls/method_roles.h"

#include <algorithm>

namespace meshwright::server {
namespace {

constexpr MethodRole kMethodRoles[] = {
    {"/meshwright.v1.Planner/Recommend", Needs::kViewer},
    {"/meshwright.v1.Planner/Estimate", Needs::kViewer},
    {"/meshwright.v1.Planner/Compare", Needs::kViewer},
    {"/meshwright.v1.Planner/Scale", Needs::kViewer},
    {"/meshwright.v1.Planner/Study", Needs::kViewer},
    {"/meshwright.v1.Planner/Fastest", Needs::kViewer},
    {"/meshwright.v1.Planner/Fit", Needs::kViewer},
    {"/meshwright.v1.Planner/Ask", Needs::kViewer},
    {"/meshwright.v1.Planner/ListPresets", Needs::kViewer},
    {"/meshwright.v1.Planner/Export", Needs::kViewer},
    {"/meshwright.v1.Planner/Import", Needs::kViewer},
    {"/meshwright.v1.Planner/Schedule", Needs::kViewer},
    {"/meshwright.v1.Planner/Draw", Needs::kViewer},
    {"/meshwright.v1.Planner/DescribeConditions", Needs::kViewer},
    {"/meshwright.v1.Sweeps/CreateSweep", Needs::kOperator},
    {"/meshwright.v1.Sweeps/GetSweep", Needs::kViewer},
    {"/meshwright.v1.Sweeps/ListSweeps", Needs::kViewer},
    {"/meshwright.v1.Sweeps/WatchSweep", Needs::kViewer},
    {"/meshwright.v1.Sweeps/GetSweepPlan", Needs::kViewer},
    {"/meshwright.v1.Sweeps/CancelSweep", Needs::kOperator},
    {"/meshwright.v1.Sweeps/RerunSweep", Needs::kOperator},
    {"/meshwright.v1.Sweeps/DeleteSweep", Needs::kOperator},
    {"/meshwright.v1.Sweeps/ListTrials", Needs::kViewer},
    {"/meshwright.v1.Sweeps/GetTrial", Needs::kViewer},
    {"/meshwright.v1.Sweeps/AskTrial", Needs::kOperator},
    {"/meshwright.v1.Sweeps/TellTrial", Needs::kOperator},
    {"/meshwright.v1.Sweeps/ImportMeasurements", Needs::kOperator},
    {"/meshwright.v1.Agents/Connect", Needs::kAgent},
    {"/meshwright.v1.Agents/ListAgents", Needs::kViewer},
    {"/meshwright.v1.Agents/DrainAgent", Needs::kOperator},
    {"/meshwright.v1.Agents/ResumeAgent", Needs::kOperator},
    // A standby gets the whole database: the secret of attempts and the hashes of tokens.
    {"/meshwright.v1.Standby/Follow", Needs::kOperator},
    {"/meshwright.v1.Standby/TakeOver", Needs::kOperator},
    {"/meshwright.v1.Standby/GetStanding", Needs::kViewer},
    // Process supervisors have no credentials, and learn only whether this server serves.
    {"/grpc.health.v1.Health/Check", Needs::kNothing},
    {"/grpc.health.v1.Health/Watch", Needs::kNothing},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Needs::kViewer},
};

}  // namespace

absl::Span<const MethodRole> MethodRoles() { return kMethodRoles; }

const MethodRole* RoleOfMethod(std::string_view path) {
  const auto* found = std::find_if(std::begin(kMethodRoles), std::end(kMethodRoles),
                                   [&](const MethodRole& method) { return method.path == path; });
  return found == std::end(kMethodRoles) ? nullptr : found;
}

bool MayCall(db::Role role, Needs needs) {
  switch (needs) {
    case Needs::kNothing:
      return true;
    case Needs::kViewer:
      return role == db::Role::kViewer || role == db::Role::kOperator;
    case Needs::kOperator:
      return role == db::Role::kOperator;
    case Needs::kAgent:
      return role == db::Role::kAgent;
  }
  return false;
}

std::string RolesThatMay(Needs needs) {
  std::string roles;
  for (const auto& [role, name] : db::kRoleNames) {
    if (!MayCall(role, needs)) continue;
    if (!roles.empty()) roles += " or ";
    roles += name;
  }
  return roles;
}

}  // namespace meshwright::server
