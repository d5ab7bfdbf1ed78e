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

// Whether a connected agent other than `agent` could run the trial for the first time.
bool AnotherCould(const ActiveTrial& trial, const std::string& agent, const ActiveSweep& sweep,
                  const ConnectedAgents& agents) {
  const auto& all = agents.all();
  return std::any_of(all.begin(), all.end(), [&](const auto& other) {
    const auto& [name, connected] = other;
    return name != agent && CanRun(connected.info, sweep) && agents.TakesTrials(name) &&
           !trial.WasLostBy(name) && !trial.BrokeOn(name);
  });
}

bool MayTry(const ActiveTrial& trial, const std::string& agent, const ActiveSweep& sweep,
            const ConnectedAgents& agents) {
  if (trial.BrokeOn(agent)) return false;
  return !trial.WasLostBy(agent) || !AnotherCould(trial, agent, sweep, agents);
}

std::string WhyClosed(const db::AgentStanding& standing) {
  return absl::StrCat(standing.agent,
                      standing.drained
                          ? " was drained"
                          : absl::StrCat(" is set aside (", standing.set_aside_reason, ")"));
}

// Why none of the agents that could run the sweep's trials does.
std::string WaitForOne(const ActiveSweep& sweep, const std::vector<std::string>& open,
                       const std::vector<std::string>& closed) {
  if (open.empty()) {
    return absl::StrCat("waits for an agent that gets trials: ", absl::StrJoin(closed, ", "));
  }
  const auto broke_on_all = [&](int32_t number) {
    const ActiveTrial& trial = sweep.trials()[static_cast<size_t>(number - 1)];
    return std::all_of(open.begin(), open.end(),
                       [&](const std::string& name) { return trial.BrokeOn(name); });
  };
  if (sweep.pending().empty() ||
      !std::all_of(sweep.pending().begin(), sweep.pending().end(), broke_on_all)) {
    return "waits for an idle agent";
  }
  return absl::StrCat("waits for another agent: what ", absl::StrJoin(open, ", "),
                      open.size() == 1 ? " runs on" : " run on", " failed with its trials");
}

}  // namespace

std::vector<std::string> AgentsFor(host::MonotonicTime now, const ActiveSweep& sweep,
                                   const ConnectedAgents& agents, const Reserved& reserved,
                                   const EngineOptions& options) {
  std::vector<std::string> able;
  for (const std::string& name : agents.idle()) {
    if (reserved.contains(name)) continue;
    const ConnectedAgent& agent = agents.all().at(name);
    const bool is_heard = now <= agent.last_heard + kMissedHeartbeats * options.heartbeat;
    if (is_heard && CanRun(agent.info, sweep) && agents.TakesTrials(name)) able.push_back(name);
  }
  return able;
}

std::string PlacementReason(const std::string& why_next, const std::string& agent,
                            const ActiveSweep& sweep) {
  return absl::StrCat(why_next, "; agent ", agent, " is idle and has the ", Label(sweep));
}

std::vector<Placement> PlaceTrials(host::MonotonicTime now, const ActiveSweep& sweep,
                                   const ConnectedAgents& agents, const Reserved& reserved,
                                   const EngineOptions& options) {
  std::vector<Placement> placements;
  if (sweep.pending().empty()) return placements;
  std::vector<std::string> able = AgentsFor(now, sweep, agents, reserved, options);
  for (const int32_t number : sweep.pending()) {
    if (able.empty()) break;
    const ActiveTrial& trial = sweep.trials()[static_cast<size_t>(number - 1)];
    const auto agent = std::find_if(able.begin(), able.end(), [&](const std::string& name) {
      return MayTry(trial, name, sweep, agents);
    });
    if (agent == able.end()) continue;
    const std::string why =
        trial.given.empty() ? absl::StrCat("number ", number, " by predicted MFU")
                            : absl::StrCat("number ", number, " runs again before another begins");
    placements.push_back({number, *agent, PlacementReason(why, *agent, sweep)});
    able.erase(agent);
  }
  return placements;
}

std::string WaitReason(const ActiveSweep& sweep, const ConnectedAgents& agents) {
  int64_t connected = 0;
  std::vector<int32_t> offers;
  bool enough = false;
  std::vector<std::string> open;    // that could run its trials
  std::vector<std::string> closed;  // and why the others that could don't
  for (const auto& [name, agent] : agents.all()) {
    if (agent.info.device_kind != sweep.device_kind()) continue;
    connected += agent.info.devices;
    offers.push_back(agent.info.devices);
    if (!CanRun(agent.info, sweep)) continue;
    enough = true;
    if (agents.TakesTrials(name)) {
      open.push_back(name);
    } else {
      closed.push_back(WhyClosed(agents.StandingOf(name)));
    }
  }
  if (enough) return WaitForOne(sweep, open, closed);
  if (connected < sweep.devices()) {
    return absl::StrCat("needs ", sweep.devices(), ", connected ", connected, " (",
                        sweep.device_kind(), " devices)");
  }
  return absl::StrCat("needs ", sweep.devices(), " on one agent, connected ",
                      absl::StrJoin(offers, " + "), " (", sweep.device_kind(), " devices)");
}

std::string FinishReason(const ActiveSweep& sweep) {
  const int32_t trials = sweep.counts().total();
  std::string reason = "no trial";
  if (trials > 0) {
    reason = absl::StrCat(trials, trials == 1 ? " trial: " : " trials: ", sweep.counts().ToText());
  }
  if (!sweep.stop_reason().empty()) absl::StrAppend(&reason, "; ", sweep.stop_reason());
  return reason;
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

AfterLoss DecideAfterFault(const ActiveTrial& trial, const std::string& agent,
                           const std::string& why, const ActiveSweep& sweep,
                           const ConnectedAgents& agents, const EngineOptions& options) {
  const int32_t failed = trial.lost_attempts + 1;
  if (failed >= options.max_lost_attempts) {
    return {true, absl::StrCat("what its agents run on failed ", failed, " times: ", why)};
  }
  if (!AnotherCould(trial, agent, sweep, agents)) {
    return {true, absl::StrCat(why, "; no other connected agent could run it"),
            /*for_want_of_an_agent=*/true};
  }
  return {false, absl::StrCat("what it ran on failed in attempt ", trial.attempt, " (", why,
                              "); it runs elsewhere as attempt ", trial.attempt + 1)};
}

}  // namespace meshwright::server
