#include "server/engine/agent_pool.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "planner/layout/layout.h"

namespace meshwright::server {
namespace {

bool IsLoopback(const std::string& address) {
  return absl::StartsWith(address, "127.") || address == "::1" || address == "localhost";
}

// Agents of the same text may run ranks of one trial: they are of one version, whose workers agree
// on what they say to each other, and reach each other.
std::string CircleOf(const AgentInfo& agent) {
  return absl::StrCat(agent.version, "\n", IsLoopback(agent.address) ? agent.host : "");
}

// What the trial's layout says; 1 where it can't be read.
int64_t TpOf(const ActiveTrial& trial) {
  const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(trial.layout);
  return layout.ok() ? layout->tp : 1;
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

}  // namespace

std::vector<db::AttemptMember> DivideRanks(int64_t ranks, int64_t tp, const Agents& agents) {
  const AgentInfo* smallest = nullptr;
  for (const AgentInfo* agent : agents) {
    if (agent->devices < ranks) continue;
    if (smallest == nullptr || agent->devices < smallest->devices) smallest = agent;
  }
  if (smallest != nullptr) return {MemberOf(*smallest, 0, ranks)};
  return DivideOverSeveral(ranks, tp, agents);
}

std::vector<db::AttemptMember> CouldRun(const ActiveTrial& trial, const ActiveSweep& sweep,
                                        const ConnectedAgents& agents, const std::string& without) {
  Agents able;
  for (const auto& [name, agent] : agents.all()) {
    const bool may = name != without && agent.info.device_kind == sweep.device_kind() &&
                     agents.TakesTrials(name) && !trial.WasLostBy(name) && !trial.BrokeOn(name);
    if (may) able.push_back(&agent.info);
  }
  return DivideRanks(sweep.devices(), TpOf(trial), able);
}

AgentPool::AgentPool(host::MonotonicTime now, const ActiveSweep& sweep,
                     const ConnectedAgents& agents, const Reserved& reserved,
                     const EngineOptions& options)
    : sweep_(sweep) {
  if (agents.idle().empty()) return;
  for (const auto& [name, agent] : agents.all()) {
    if (agent.info.device_kind != sweep.device_kind() || !agents.TakesTrials(name)) continue;
    const bool is_heard = now <= agent.last_heard + kMissedHeartbeats * options.heartbeat;
    open_.push_back({.info = &agent.info,
                     .is_idle = is_heard && agent.held.empty() && !reserved.contains(name)});
  }
}

AgentPool::Candidates AgentPool::For(const ActiveTrial& trial) const {
  if (trial.given.empty()) return open_;
  Candidates candidates;
  for (const Candidate& candidate : open_) {
    if (!trial.BrokeOn(candidate.info->name)) candidates.push_back(candidate);
  }
  Candidates others;
  Agents able;
  for (const Candidate& candidate : candidates) {
    if (trial.WasLostBy(candidate.info->name)) continue;
    others.push_back(candidate);
    able.push_back(candidate.info);
  }
  return DivideRanks(sweep_.devices(), TpOf(trial), able).empty() ? candidates : others;
}

std::vector<db::AttemptMember> AgentPool::TakeOf(const Candidates& candidates, int64_t tp) {
  Agents all;
  Agents idle;
  for (const Candidate& candidate : candidates) {
    all.push_back(candidate.info);
    if (candidate.is_idle) idle.push_back(candidate.info);
  }
  if (idle.empty()) return {};
  std::vector<db::AttemptMember> members = DivideRanks(sweep_.devices(), tp, idle);
  if (members.size() > DivideRanks(sweep_.devices(), tp, all).size()) members.clear();
  for (const db::AttemptMember& member : members) {
    for (Candidate& candidate : open_) {
      if (candidate.info->name == member.agent) candidate.is_idle = false;
    }
  }
  return members;
}

std::vector<std::string> AgentPool::WaitsOf(const Candidates& candidates, int64_t tp) const {
  Agents idle_first;
  for (const bool is_idle : {true, false}) {
    for (const Candidate& candidate : candidates) {
      if (candidate.is_idle == is_idle) idle_first.push_back(candidate.info);
    }
  }
  std::vector<std::string> waits;
  for (const db::AttemptMember& member : DivideRanks(sweep_.devices(), tp, idle_first)) {
    const bool is_idle = std::any_of(candidates.begin(), candidates.end(), [&](const auto& one) {
      return one.info->name == member.agent && one.is_idle;
    });
    if (is_idle) waits.push_back(member.agent);
  }
  return waits;
}

bool AgentPool::has_idle() const {
  return std::any_of(open_.begin(), open_.end(),
                     [](const Candidate& candidate) { return candidate.is_idle; });
}

std::vector<db::AttemptMember> AgentPool::Take(const ActiveTrial& trial) {
  return TakeOf(For(trial), TpOf(trial));
}

std::vector<db::AttemptMember> AgentPool::TakeForOne() { return TakeOf(open_, 1); }

std::vector<std::string> AgentPool::WaitsWith(const ActiveTrial& trial) const {
  return WaitsOf(For(trial), TpOf(trial));
}

std::vector<std::string> AgentPool::WaitsWithForOne() const { return WaitsOf(open_, 1); }

}  // namespace meshwright::server
