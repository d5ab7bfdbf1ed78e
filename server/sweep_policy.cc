#include "server/sweep_policy.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::server {
namespace {

std::string Label(const db::SweepRecord& sweep) {
  return absl::StrCat(sweep.devices, " ", sweep.device_kind,
                      sweep.devices == 1 ? " rank" : " ranks");
}

bool CanRun(const AgentView& agent, const db::SweepRecord& sweep) {
  return agent.device_kind == sweep.device_kind && agent.devices >= sweep.devices;
}

// Why no agent takes this sweep's next trial.
std::string WaitReason(const db::SweepRecord& sweep, const std::vector<AgentView>& agents) {
  int64_t connected = 0;
  std::vector<int32_t> offers;
  bool enough = false;
  for (const AgentView& agent : agents) {
    if (agent.device_kind != sweep.device_kind) continue;
    connected += agent.devices;
    offers.push_back(agent.devices);
    enough = enough || agent.devices >= sweep.devices;
  }
  if (enough) return "waits for an idle agent";
  if (connected < sweep.devices) {
    return absl::StrCat("needs ", sweep.devices, ", connected ", connected, " (", sweep.device_kind,
                        " devices)");
  }
  return absl::StrCat("needs ", sweep.devices, " on one agent, connected ",
                      absl::StrJoin(offers, " + "), " (", sweep.device_kind, " devices)");
}

std::string FinishReason(const std::vector<db::TrialRecord>& trials) {
  db::TrialCounts counts;
  for (const db::TrialRecord& trial : trials) ++counts[trial.state];
  return absl::StrCat(trials.size(),
                      trials.size() == 1 ? " trial: " : " trials: ", counts.ToText());
}

void AddLosses(host::MonotonicTime now, const SweepView& view,
               const std::set<std::string>& connected, const PolicyOptions& options,
               std::vector<PolicyAction>& actions) {
  for (const db::TrialRecord& trial : view.trials) {
    const auto lease = view.lease_ends.find(trial.number);
    if (lease == view.lease_ends.end() || lease->second > now) continue;
    const std::string why = connected.contains(trial.agent)
                                ? absl::StrCat("agent ", trial.agent, " stopped renewing its lease")
                                : absl::StrCat("agent ", trial.agent, " vanished");
    actions.push_back(AfterLoss(trial, why, options));
  }
}

// Hands pending trials to idle agents; returns false when a pending trial found none.
bool AddAssignments(const SweepView& view, std::vector<AgentView>& agents,
                    std::vector<PolicyAction>& actions) {
  for (const db::TrialRecord& trial : view.trials) {
    if (trial.state != db::TrialState::kPending) continue;
    const auto agent = std::find_if(agents.begin(), agents.end(), [&](const AgentView& candidate) {
      return candidate.idle && CanRun(candidate, view.sweep);
    });
    if (agent == agents.end()) return false;
    agent->idle = false;
    actions.push_back({ActionType::kAssign, view.sweep.id, trial.number, agent->name,
                       absl::StrCat("number ", trial.number, " by predicted MFU; agent ",
                                    agent->name, " is idle and has the ", Label(view.sweep))});
  }
  return true;
}

}  // namespace

PolicyAction AfterLoss(const db::TrialRecord& trial, const std::string& why,
                       const PolicyOptions& options) {
  const int32_t lost = trial.lost_attempts + 1;
  if (lost >= options.max_lost_attempts) {
    return {ActionType::kFail, trial.sweep_id, trial.number, "",
            absl::StrCat("agent lost ", lost, " times; the last time: ", why)};
  }
  return {ActionType::kRequeue, trial.sweep_id, trial.number, "",
          absl::StrCat(why, " in attempt ", trial.attempt, "; it runs again as attempt ",
                       trial.attempt + 1)};
}

std::vector<PolicyAction> NextActions(host::MonotonicTime now, const PolicyState& state,
                                      const PolicyOptions& options) {
  std::vector<PolicyAction> actions;
  std::vector<AgentView> agents = state.agents;
  std::set<std::string> connected;
  for (const AgentView& agent : agents) connected.insert(agent.name);
  for (const SweepView& view : state.sweeps) {
    AddLosses(now, view, connected, options, actions);
    const bool ended = std::all_of(view.trials.begin(), view.trials.end(),
                                   [](const db::TrialRecord& t) { return db::HasEnded(t.state); });
    if (ended) {
      actions.push_back({ActionType::kFinish, view.sweep.id, 0, "", FinishReason(view.trials)});
      continue;
    }
    const bool held = std::any_of(view.trials.begin(), view.trials.end(),
                                  [](const db::TrialRecord& t) { return db::IsHeld(t.state); });
    const size_t before = actions.size();
    const bool all_placed = AddAssignments(view, agents, actions);
    // A sweep of which something runs is not waiting.
    if (!all_placed && !held && actions.size() == before) {
      actions.push_back(
          {ActionType::kWait, view.sweep.id, 0, "", WaitReason(view.sweep, state.agents)});
    }
  }
  return actions;
}

}  // namespace meshwright::server
