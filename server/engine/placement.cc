#include "server/engine/placement.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/string_view.h"

namespace meshwright::server {
namespace {

std::string Label(const ActiveSweep& sweep) {
  return absl::StrCat(sweep.devices(), " ", sweep.device_kind(),
                      sweep.devices() == 1 ? " rank" : " ranks");
}

std::string WhyClosed(const std::string& agent, const ConnectedAgents& agents) {
  if (agents.IsReleased(agent)) return absl::StrCat(agent, ", which was idle, is about to end");
  const db::AgentQuarantine quarantine = agents.QuarantineOf(agent);
  if (quarantine.drained) return absl::StrCat(agent, " was drained");
  return absl::StrCat(agent, " is quarantined (", quarantine.set_aside_reason, ")");
}

// Returns why none of the agents that could run the sweep's trials does.
WaitReason WaitForIdle(const ActiveSweep& sweep, const std::vector<const AgentInfo*>& able) {
  WaitReason for_a_turn = {"waits for free devices", /*is_for_a_turn=*/true};
  std::set<std::string> broken;
  for (const int32_t number : sweep.pending()) {
    const ActiveTrial& trial = sweep.trials()[static_cast<size_t>(number - 1)];
    std::vector<const AgentInfo*> whole;
    for (const AgentInfo* agent : able) {
      if (trial.BrokeOn(agent->name)) {
        broken.insert(agent->name);
      } else {
        whole.push_back(agent);
      }
    }
    if (!DivideRanks(sweep, /*tp=*/1, whole).empty()) return for_a_turn;
  }
  if (broken.empty()) return for_a_turn;
  return {absl::StrCat("waits for another agent: its trials had infrastructure failures on ",
                       absl::StrJoin(broken, ", "))};
}

}  // namespace

std::string PlacementReason(const std::string& why_next,
                            const std::vector<db::AttemptMember>& members,
                            const ActiveSweep& sweep) {
  if (members.size() == 1) {
    return absl::StrCat(why_next, "; agent ", members.front().agent, " has the ", Label(sweep),
                        " free");
  }
  std::vector<std::string> shares;
  shares.reserve(members.size());
  for (const db::AttemptMember& member : members) {
    shares.push_back(absl::StrCat(member.agent, " ", member.ranks));
  }
  return absl::StrCat(why_next, "; ", members.size(), " agents have the ", Label(sweep),
                      " free together: ", absl::StrJoin(shares, ", "));
}

std::string WhyPendingIsNext(const ActiveTrial& trial) {
  return absl::StrCat(
      "number ", trial.number,
      trial.given.empty() ? " by predicted MFU" : " runs again before another begins");
}

std::string LeaseHasEnded(int32_t attempt, const ActiveTrial& trial) {
  return absl::StrCat("attempt ", attempt,
                      " is over: its lease ended or it was given back, and trial ", trial.number,
                      " is ", AbslView(db::TrialStateName(trial.state)), " in attempt ",
                      trial.attempt, "; ask for a trial again");
}

std::optional<Placement> PlaceNext(const ActiveSweep& sweep, AgentPool& pool, Reserved& reserved) {
  for (const int32_t number : sweep.pending()) {
    if (!pool.has_room()) break;
    const ActiveTrial& trial = sweep.trials()[static_cast<size_t>(number - 1)];
    std::vector<db::AttemptMember> members = pool.Take(trial);
    if (members.empty()) {
      const std::vector<std::string> kept = pool.Keep(trial);
      reserved.insert(kept.begin(), kept.end());
      continue;
    }
    std::string reason = PlacementReason(WhyPendingIsNext(trial), members, sweep);
    return Placement{number, std::move(members), std::move(reason)};
  }
  return std::nullopt;
}

WaitReason WhyItWaits(const ActiveSweep& sweep, const ConnectedAgents& agents) {
  if (sweep.is_asked()) return {"waits until somebody asks for a trial (sweep ask)"};
  int64_t connected = 0;
  std::vector<int32_t> offers;
  std::vector<const AgentInfo*> all;
  std::vector<const AgentInfo*> able;  // those that take trials
  std::vector<std::string> closed;     // why the others don't
  for (const auto& [name, agent] : agents.all()) {
    if (!Suits(agent.info, sweep)) continue;
    connected += agent.info.devices;
    offers.push_back(agent.info.devices);
    all.push_back(&agent.info);
    if (agents.TakesTrials(name)) {
      able.push_back(&agent.info);
    } else {
      closed.push_back(WhyClosed(name, agents));
    }
  }
  const auto could = [&](const std::vector<const AgentInfo*>& by) {
    return !DivideRanks(sweep, /*tp=*/1, by).empty();
  };
  if (could(able)) return WaitForIdle(sweep, able);
  if (could(all)) {
    return {absl::StrCat("waits for an agent that gets trials: ", absl::StrJoin(closed, ", "))};
  }
  const std::string kind =
      sweep.runner().empty()
          ? absl::StrCat(sweep.device_kind(), " devices")
          : absl::StrCat(sweep.device_kind(), " devices of agents with the ", sweep.runner());
  if (connected < sweep.devices()) {
    return {absl::StrCat("needs ", sweep.devices(), ", connected ", connected, " (", kind, ")")};
  }
  if (std::none_of(all.begin(), all.end(),
                   [&](const AgentInfo* agent) { return RunsOnSeveralNodes(*agent, sweep); })) {
    return {absl::StrCat("needs ", sweep.devices(), " on one agent, connected ",
                         absl::StrJoin(offers, " + "), " (", kind, ")")};
  }
  return {absl::StrCat("needs ", sweep.devices(),
                       " on one agent, or on some of one version that reach each other (agent "
                       "--advertise), connected ",
                       absl::StrJoin(offers, " + "), " (", kind, ")")};
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
    return {true, absl::StrCat(lost, " attempts were lost or broken; the last: ", why)};
  }
  return AfterReturn(trial, why);
}

AfterLoss AfterReturn(const ActiveTrial& trial, const std::string& why) {
  return {false, absl::StrCat(why, " in attempt ", trial.attempt,
                              "; the trial runs again as attempt ", trial.attempt + 1)};
}

AfterLoss DecideAfterFault(const ActiveTrial& trial, const std::string& agent,
                           const std::string& why, const ActiveSweep& sweep,
                           const ConnectedAgents& agents, const EngineOptions& options) {
  const int32_t failed = trial.lost_attempts + 1;
  if (failed >= options.max_lost_attempts) {
    return {true, absl::StrCat(failed, " attempts were lost or broken; the last: ", why)};
  }
  if (!CouldRun(trial, sweep, agents, /*without=*/agent)) {
    return {true, absl::StrCat(why, "; no other connected agent could run it"),
            /*for_want_of_an_agent=*/true};
  }
  return {false, absl::StrCat("infrastructure failure in attempt ", trial.attempt, " (", why,
                              "); the trial runs elsewhere as attempt ", trial.attempt + 1)};
}

}  // namespace meshwright::server
