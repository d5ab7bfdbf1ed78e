#include "server/engine/agent_pool.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/host/host_port.h"

namespace meshwright::server {
namespace {

// Agents of the same text may run ranks of one trial: they are of one version, whose workers agree
// on what they say to each other, and reach each other.
std::string CircleOf(const AgentInfo& agent) {
  const bool stays_here = host::IsLoopback(host::WithPort(agent.address, /*port=*/0));
  return absl::StrCat(agent.version, "\n", stays_here ? agent.host : "");
}

using Agents = std::vector<const AgentInfo*>;

db::AttemptMember MemberOf(const AgentInfo& agent, int64_t first_rank, int64_t ranks) {
  return {.agent = agent.name,
          .host = agent.host,
          .first_rank = static_cast<int32_t>(first_rank),
          .ranks = static_cast<int32_t>(ranks)};
}

// `agents` have the most devices first. Each gets a multiple of `unit` ranks.
std::vector<db::AttemptMember> DivideInOrder(int64_t ranks, int64_t unit, const Agents& agents) {
  std::vector<db::AttemptMember> members;
  int64_t given = 0;
  for (const AgentInfo* agent : agents) {
    const int64_t share = std::min(ranks - given, agent->devices / unit * unit);
    if (share <= 0) break;
    members.push_back(MemberOf(*agent, given, share));
    given += share;
  }
  if (given < ranks) members.clear();
  return members;
}

std::vector<db::AttemptMember> DivideOverSeveral(int64_t ranks, int64_t tp, const Agents& agents) {
  std::map<std::string, Agents> circles;
  for (const AgentInfo* agent : agents) {
    if (!agent->address.empty()) circles[CircleOf(*agent)].push_back(agent);
  }
  std::vector<db::AttemptMember> best;
  for (auto& [name, circle] : circles) {
    std::stable_sort(circle.begin(), circle.end(), [](const AgentInfo* a, const AgentInfo* b) {
      return a->devices > b->devices;
    });
    std::vector<db::AttemptMember> members = DivideInOrder(ranks, tp, circle);
    if (members.empty()) members = DivideInOrder(ranks, 1, circle);
    if (members.empty() || (!best.empty() && best.size() <= members.size())) continue;
    best = std::move(members);
  }
  return best;
}

// The first of those with the fewest devices that are enough; null where none has enough.
const AgentInfo* SmallestThatHas(int64_t ranks, const Agents& agents) {
  const AgentInfo* smallest = nullptr;
  for (const AgentInfo* agent : agents) {
    if (agent->devices < ranks) continue;
    if (smallest == nullptr || agent->devices < smallest->devices) smallest = agent;
  }
  return smallest;
}

// By name, connected agents that get trials and may take ranks of this one.
Agents AgentsFor(const ActiveTrial& trial, const ActiveSweep& sweep, const ConnectedAgents& agents,
                 const std::string& without = "") {
  Agents able;
  Agents others;  // than those that vanished with it
  for (const auto& [name, agent] : agents.all()) {
    const bool may = name != without && agent.info.device_kind == sweep.device_kind() &&
                     agents.TakesTrials(name) && !trial.BrokeOn(name);
    if (!may) continue;
    able.push_back(&agent.info);
    if (!trial.WasLostBy(name)) others.push_back(&agent.info);
  }
  if (others.size() == able.size()) return able;
  return DivideRanks(sweep.devices(), trial.tp, others).empty() ? able : others;
}

// Whether the same numbers of ranks are on one agent each.
bool AreAlike(const std::vector<db::AttemptMember>& a, const std::vector<db::AttemptMember>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const db::AttemptMember& one, const db::AttemptMember& other) {
                      return one.ranks == other.ranks;
                    });
}

}  // namespace

std::vector<db::AttemptMember> DivideRanks(int64_t ranks, int64_t tp, const Agents& agents) {
  if (const AgentInfo* agent = SmallestThatHas(ranks, agents); agent != nullptr) {
    return {MemberOf(*agent, 0, ranks)};
  }
  return DivideOverSeveral(ranks, tp, agents);
}

bool CouldRun(const ActiveTrial& trial, const ActiveSweep& sweep, const ConnectedAgents& agents,
              const std::string& without) {
  const Agents able = AgentsFor(trial, sweep, agents, without);
  return !DivideRanks(sweep.devices(), trial.tp, able).empty();
}

AgentPool::AgentPool(host::MonotonicTime now, const ActiveSweep& sweep,
                     const ConnectedAgents& agents, const Reserved& reserved,
                     const EngineOptions& options)
    : sweep_(sweep), agents_(agents) {
  for (const std::string& name : agents.idle()) {
    const ConnectedAgent& agent = agents.all().at(name);
    const bool is_heard = now <= agent.last_heard + kMissedHeartbeats * options.heartbeat;
    if (is_heard && agent.info.device_kind == sweep.device_kind() && !reserved.contains(name) &&
        agents.TakesTrials(name)) {
      idle_.push_back(&agent.info);
    }
  }
}

void AgentPool::Remove(const std::vector<std::string>& names) {
  std::erase_if(idle_, [&](const AgentInfo* agent) {
    return std::find(names.begin(), names.end(), agent->name) != names.end();
  });
}

bool AgentPool::IsIdle(const AgentInfo* agent) const {
  return std::find(idle_.begin(), idle_.end(), agent) != idle_.end();
}

Agents AgentPool::IdleOf(Agents agents) const {
  std::erase_if(agents, [&](const AgentInfo* agent) { return !IsIdle(agent); });
  return agents;
}

std::vector<db::AttemptMember> AgentPool::Alone(const ActiveTrial& trial) const {
  const AgentInfo* const agent = SmallestThatHas(
      sweep_.devices(), trial.given.empty() ? idle_ : IdleOf(AgentsFor(trial, sweep_, agents_)));
  if (agent == nullptr) return {};
  return {MemberOf(*agent, 0, sweep_.devices())};
}

std::vector<db::AttemptMember> AgentPool::Together(const ActiveTrial& trial) const {
  const Agents able = AgentsFor(trial, sweep_, agents_);
  const std::vector<db::AttemptMember> divided = DivideRanks(sweep_.devices(), trial.tp, able);
  if (divided.size() < 2) return {};
  std::vector<db::AttemptMember> members = DivideRanks(sweep_.devices(), trial.tp, IdleOf(able));
  if (!AreAlike(members, divided)) members.clear();
  return members;
}

std::vector<db::AttemptMember> AgentPool::Take(const ActiveTrial& trial) {
  if (idle_.empty()) return {};
  const bool is_new = trial.given.empty();
  if (is_new && hopeless_tp_.contains(trial.tp)) return {};
  std::vector<db::AttemptMember> members = Alone(trial);
  if (members.empty()) members = Together(trial);
  if (members.empty() && is_new) hopeless_tp_.insert(trial.tp);
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const db::AttemptMember& member : members) names.push_back(member.agent);
  Remove(names);
  return members;
}

std::vector<std::string> AgentPool::Keep(const ActiveTrial& trial) {
  if (idle_.empty() || std::exchange(keeps_, true)) return {};
  Agents able = AgentsFor(trial, sweep_, agents_);
  std::stable_partition(able.begin(), able.end(),
                        [&](const AgentInfo* agent) { return IsIdle(agent); });
  std::vector<std::string> kept;
  for (const db::AttemptMember& member : DivideRanks(sweep_.devices(), trial.tp, able)) {
    if (IsIdle(&agents_.all().at(member.agent).info)) kept.push_back(member.agent);
  }
  Remove(kept);
  return kept;
}

}  // namespace meshwright::server
