// EngineCore's interface to whoever starts agents and lets them go.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/engine/agent_pool.h"
#include "server/engine/engine_core.h"

namespace meshwright::server {
namespace {

// Returns the agents with a free slot that lack the sweep's runner, or under which every waiting
// trial of the sweep failed.
std::set<std::string> UnfitFor(const ActiveSweep& sweep, const ConnectedAgents& agents) {
  std::set<std::string> unfit;
  for (const std::string& name : agents.with_room()) {
    if (!Suits(agents.all().at(name).info, sweep)) unfit.insert(name);
  }
  // A trial that has not been chosen yet may go to any agent.
  if (sweep.MayChoose()) return unfit;
  for (const std::string& name : agents.with_room()) {
    const bool fails =
        std::all_of(sweep.pending().begin(), sweep.pending().end(), [&](int32_t number) {
          return sweep.trials()[static_cast<size_t>(number - 1)].BrokeOn(name);
        });
    if (fails) unfit.insert(name);
  }
  return unfit;
}

absl::Status NotIdle(const std::string& agent, absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat("agent ", agent, " ", why));
}

}  // namespace

EngineDemand EngineCore::Demand() const {
  EngineDemand demand;
  for (const auto& [id, sweep] : sweeps_) {
    const int64_t waiting = sweep.WaitingTrials();
    if (waiting == 0 || sweep.is_asked()) continue;
    demand.sweeps.push_back({.sweep = sweep.name(),
                             .device_kind = sweep.device_kind(),
                             .devices = sweep.devices(),
                             .waiting_trials = waiting,
                             .unfit = UnfitFor(sweep, agents_)});
  }
  for (const auto& [name, agent] : agents_.all()) {
    demand.agents.push_back({.name = name,
                             .device_kind = agent.info.device_kind,
                             .devices = agent.info.devices,
                             .takes_trials = agents_.TakesTrials(name),
                             .busy = !agent.held.empty(),
                             .idle_since = agent.idle_since});
  }
  demand.closed = agents_.Closed();
  return demand;
}

absl::Status EngineCore::CheckIsIdle(const std::string& name, absl::Duration idle_for) {
  // Includes an agent that lost its connection and may come back with what it runs.
  if (!HeldBy(name).empty()) return NotIdle(name, "holds a trial");
  const ConnectedAgent* const agent = agents_.Find(name);
  if (agent == nullptr) return absl::OkStatus();
  if (!agent->held.empty()) return NotIdle(name, "holds a trial");
  if (reserved_.contains(name)) return NotIdle(name, "is kept for a trial");
  if (now_ < agent->idle_since + idle_for) return NotIdle(name, "held a trial a moment ago");
  return absl::OkStatus();
}

void EngineCore::On(const ReleaseRequested& event) {
  std::vector<std::string> agents = event.agents;
  std::erase_if(agents, [&](const std::string& agent) { return agents_.IsReleased(agent); });
  if (agents.empty()) return;
  if (!store_is_up_) {
    output_.status = absl::UnavailableError("the store can't be written now: try again");
    return;
  }
  for (const std::string& agent : agents) {
    output_.status = CheckIsIdle(agent, event.idle_for);
    if (!output_.status.ok()) return;
  }
  for (const std::string& agent : agents) agents_.Release(agent);
  Advance();
}

void EngineCore::On(const AdmitRequested& event) {
  if (!agents_.IsReleased(event.agent)) return;
  if (agents_.Find(event.agent) != nullptr) {
    output_.status = absl::FailedPreconditionError(
        absl::StrCat("agent ", event.agent, ", which was let go, is still connected"));
    return;
  }
  agents_.Admit(event.agent);
}

void EngineCore::On(const NodesQueued& event) {
  if (nodes_queued_ == event) return;
  nodes_queued_ = event;
  for (auto& [id, sweep] : sweeps_) sweep.look_at_wait = MonotonicTime::Always();
  Advance();
}

}  // namespace meshwright::server
