#include "server/engine/placement.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::server {
namespace {

std::string Label(const ActiveSweep& sweep) {
  return absl::StrCat(sweep.devices(), " ", sweep.device_kind(),
                      sweep.devices() == 1 ? " rank" : " ranks");
}

bool CanRun(const AgentInfo& agent, const ActiveSweep& sweep) {
  return agent.device_kind == sweep.device_kind() && agent.devices >= sweep.devices();
}

bool MayRetry(const ActiveTrial& trial, const std::string& agent, const ActiveSweep& sweep,
              const ConnectedAgents& agents) {
  if (!trial.WasLostBy(agent)) return true;
  const auto& all = agents.all();
  return std::none_of(all.begin(), all.end(), [&](const auto& other) {
    return CanRun(other.second.info, sweep) && !trial.WasLostBy(other.first);
  });
}

}  // namespace

std::vector<Placement> PlaceTrials(host::MonotonicTime now, const ActiveSweep& sweep,
                                   const ConnectedAgents& agents, const EngineOptions& options) {
  std::vector<Placement> placements;
  if (sweep.pending().empty()) return placements;
  std::vector<std::string> able;
  for (const std::string& name : agents.idle()) {
    const ConnectedAgent& agent = agents.all().at(name);
    const bool is_heard = now <= agent.last_heard + 2 * options.heartbeat;
    if (is_heard && CanRun(agent.info, sweep)) able.push_back(name);
  }
  for (const int32_t number : sweep.pending()) {
    if (able.empty()) break;
    const ActiveTrial& trial = sweep.trials()[static_cast<size_t>(number - 1)];
    const auto agent = std::find_if(able.begin(), able.end(), [&](const std::string& name) {
      return MayRetry(trial, name, sweep, agents);
    });
    if (agent == able.end()) continue;
    placements.push_back({number, *agent,
                          absl::StrCat("number ", number, " by predicted MFU; agent ", *agent,
                                       " is idle and has the ", Label(sweep))});
    able.erase(agent);
  }
  return placements;
}

std::string WaitReason(const ActiveSweep& sweep, const ConnectedAgents& agents) {
  int64_t connected = 0;
  std::vector<int32_t> offers;
  bool enough = false;
  for (const auto& [name, agent] : agents.all()) {
    if (agent.info.device_kind != sweep.device_kind()) continue;
    connected += agent.info.devices;
    offers.push_back(agent.info.devices);
    enough = enough || agent.info.devices >= sweep.devices();
  }
  if (enough) return "waits for an idle agent";
  if (connected < sweep.devices()) {
    return absl::StrCat("needs ", sweep.devices(), ", connected ", connected, " (",
                        sweep.device_kind(), " devices)");
  }
  return absl::StrCat("needs ", sweep.devices(), " on one agent, connected ",
                      absl::StrJoin(offers, " + "), " (", sweep.device_kind(), " devices)");
}

std::string FinishReason(const ActiveSweep& sweep) {
  const int32_t trials = sweep.counts().total();
  return absl::StrCat(trials, trials == 1 ? " trial: " : " trials: ", sweep.counts().ToText());
}

AfterLoss DecideAfterLoss(const ActiveTrial& trial, const std::string& why,
                          const EngineOptions& options) {
  const int32_t lost = trial.lost_attempts + 1;
  if (lost >= options.max_lost_attempts) {
    return {true, absl::StrCat("agent lost ", lost, " times; the last time: ", why)};
  }
  return {false, absl::StrCat(why, " in attempt ", trial.attempt, "; it runs again as attempt ",
                              trial.attempt + 1)};
}

}  // namespace meshwright::server
