#include "server/engine/agent_pool.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/system/host_port.h"

namespace meshwright::server {
namespace {

// Returns a key: agents of the same key may share a trial. They are of one version, whose workers
// use the same protocol, and reach each other.
std::string CircleOf(const AgentInfo& agent) {
  const bool stays_here = IsLoopback(WithPort(agent.address, /*port=*/0));
  return absl::StrCat(agent.version, "\n", stays_here ? agent.host : "");
}

using Agents = std::vector<const AgentInfo*>;

// Its share starts at its first device.
db::AttemptMember MemberOf(const AgentInfo& agent, int64_t first_rank, int64_t ranks) {
  return {.agent = agent.name,
          .host = agent.host,
          .first_rank = static_cast<int32_t>(first_rank),
          .ranks = static_cast<int32_t>(ranks)};
}

// `agents` are ordered by devices, most first. Each gets a multiple of `unit` ranks.
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

// Divides the ranks over as few of the agents as can have equally many each, as launchers of
// frameworks want it. `agents` are ordered by devices, most first.
std::vector<db::AttemptMember> DivideEvenly(int64_t ranks, const Agents& agents) {
  for (size_t nodes = 2; nodes <= agents.size(); ++nodes) {
    const int64_t share = ranks / static_cast<int64_t>(nodes);
    if (share * static_cast<int64_t>(nodes) != ranks || agents[nodes - 1]->devices < share)
      continue;
    std::vector<db::AttemptMember> members;
    for (size_t node = 0; node < nodes; ++node) {
      members.push_back(MemberOf(*agents[node], static_cast<int64_t>(node) * share, share));
    }
    return members;
  }
  return {};
}

// Divides the sweep's ranks over agents that reach each other, which are ordered by devices, most
// first.
std::vector<db::AttemptMember> DivideInCircle(const ActiveSweep& sweep, int64_t tp,
                                              const Agents& circle) {
  if (!sweep.runner().empty()) return DivideEvenly(sweep.devices(), circle);
  std::vector<db::AttemptMember> members = DivideInOrder(sweep.devices(), tp, circle);
  return members.empty() ? DivideInOrder(sweep.devices(), 1, circle) : members;
}

std::vector<db::AttemptMember> DivideOverSeveral(const ActiveSweep& sweep, int64_t tp,
                                                 const Agents& agents) {
  std::map<std::string, Agents> circles;
  for (const AgentInfo* agent : agents) circles[CircleOf(*agent)].push_back(agent);
  std::vector<db::AttemptMember> best;
  for (auto& [name, circle] : circles) {
    std::stable_sort(circle.begin(), circle.end(), [](const AgentInfo* a, const AgentInfo* b) {
      return a->devices > b->devices;
    });
    std::vector<db::AttemptMember> members = DivideInCircle(sweep, tp, circle);
    if (members.empty() || (!best.empty() && best.size() <= members.size())) continue;
    best = std::move(members);
  }
  return best;
}

// Returns the agent with the fewest devices among the agents that have enough; among equals, the
// first agent; null if no agent has enough.
const AgentInfo* SmallestThatHas(int64_t ranks, const Agents& agents) {
  const AgentInfo* smallest = nullptr;
  for (const AgentInfo* agent : agents) {
    if (agent->devices < ranks) continue;
    if (smallest == nullptr || agent->devices < smallest->devices) smallest = agent;
  }
  return smallest;
}

// Returns the agent's offer of the sweep's runner; null if it has none.
const wire::RunnerOffer* OfferOf(const AgentInfo& agent, const ActiveSweep& sweep) {
  const auto offer =
      std::find_if(agent.runners.begin(), agent.runners.end(), [&](const wire::RunnerOffer& one) {
        return trial::RunnerFileText(one.name, one.hash) == sweep.runner();
      });
  return offer == agent.runners.end() ? nullptr : &*offer;
}

// Returns, by name, the connected agents that take trials and may take ranks of this one.
Agents AgentsFor(const ActiveTrial& trial, const ActiveSweep& sweep, const ConnectedAgents& agents,
                 const std::string& without = "") {
  Agents able;
  Agents others;  // agents that vanished with the trial before
  for (const auto& [name, agent] : agents.all()) {
    const bool may = name != without && Suits(agent.info, sweep) && agents.TakesTrials(name) &&
                     !trial.BrokeOn(name);
    if (!may) continue;
    able.push_back(&agent.info);
    if (!trial.WasLostBy(name)) others.push_back(&agent.info);
  }
  if (others.size() == able.size()) return able;
  return DivideRanks(sweep, trial.tp, others).empty() ? able : others;
}

// Returns whether both divide the ranks into the same numbers, agent by agent.
bool AreAlike(const std::vector<db::AttemptMember>& a, const std::vector<db::AttemptMember>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const db::AttemptMember& one, const db::AttemptMember& other) {
                      return one.ranks == other.ranks;
                    });
}

}  // namespace

bool Suits(const AgentInfo& agent, const ActiveSweep& sweep) {
  if (sweep.is_asked() || agent.device_kind != sweep.device_kind()) return false;
  return sweep.runner().empty() || OfferOf(agent, sweep) != nullptr;
}

bool RunsOnSeveralNodes(const AgentInfo& agent, const ActiveSweep& sweep) {
  return sweep.runner().empty() || OfferOf(agent, sweep)->runs_on_several_nodes;
}

std::vector<db::AttemptMember> DivideRanks(const ActiveSweep& sweep, int64_t tp,
                                           const Agents& agents) {
  const int64_t ranks = sweep.devices();
  if (const AgentInfo* agent = SmallestThatHas(ranks, agents); agent != nullptr) {
    return {MemberOf(*agent, 0, ranks)};
  }
  Agents sharing;
  std::copy_if(agents.begin(), agents.end(), std::back_inserter(sharing),
               [&](const AgentInfo* agent) {
                 return !agent->address.empty() && RunsOnSeveralNodes(*agent, sweep);
               });
  return DivideOverSeveral(sweep, tp, sharing);
}

bool CouldRun(const ActiveTrial& trial, const ActiveSweep& sweep, const ConnectedAgents& agents,
              const std::string& without) {
  const Agents able = AgentsFor(trial, sweep, agents, without);
  return !DivideRanks(sweep, trial.tp, able).empty();
}

AgentPool::AgentPool(MonotonicTime now, const ActiveSweep& sweep, const ConnectedAgents& agents,
                     const Reserved& reserved, const EngineOptions& options)
    : sweep_(sweep), agents_(agents) {
  for (const std::string& name : agents.with_room()) {
    const ConnectedAgent& agent = agents.all().at(name);
    const bool is_heard = now <= agent.last_heard + kMissedHeartbeats * options.heartbeat;
    if (is_heard && Suits(agent.info, sweep) && !reserved.contains(name) &&
        agents.TakesTrials(name)) {
      rooms_.push_back({&agent.info, agent.free});
    }
  }
}

const AgentPool::Room* AgentPool::RoomOf(const std::string& agent) const {
  const auto room = std::lower_bound(
      rooms_.begin(), rooms_.end(), agent,
      [](const Room& one, const std::string& name) { return one.agent->name < name; });
  return room == rooms_.end() || room->agent->name != agent ? nullptr : &*room;
}

bool AgentPool::IsIdle(const AgentInfo* agent) const {
  const Room* const room = RoomOf(agent->name);
  return room != nullptr && room->free.all();
}

Agents AgentPool::IdleOf(Agents agents) const {
  std::erase_if(agents, [&](const AgentInfo* agent) { return !IsIdle(agent); });
  return agents;
}

std::vector<db::AttemptMember> AgentPool::Alone(const ActiveTrial& trial) const {
  std::optional<Agents> able;  // nullopt: any agent may run it
  if (!trial.given.empty()) able = AgentsFor(trial, sweep_, agents_);
  const Room* best = nullptr;
  int32_t first_device = 0;
  // Agents with the fewest devices come first, and among those the ones that run nothing.
  const auto rank = [](const Room& room) {
    return std::pair(room.agent->devices, !room.free.all());
  };
  for (const Room& room : rooms_) {
    if (able && std::find(able->begin(), able->end(), room.agent) == able->end()) continue;
    const std::optional<int32_t> found = room.free.Find(sweep_.devices());
    if (!found || (best != nullptr && rank(*best) <= rank(room))) continue;
    best = &room;
    first_device = *found;
  }
  if (best == nullptr) return {};
  db::AttemptMember member = MemberOf(*best->agent, 0, sweep_.devices());
  member.first_device = first_device;
  return {std::move(member)};
}

std::vector<db::AttemptMember> AgentPool::Together(const ActiveTrial& trial) const {
  const Agents able = AgentsFor(trial, sweep_, agents_);
  const std::vector<db::AttemptMember> divided = DivideRanks(sweep_, trial.tp, able);
  if (divided.size() < 2) return {};
  std::vector<db::AttemptMember> members = DivideRanks(sweep_, trial.tp, IdleOf(able));
  if (!AreAlike(members, divided)) members.clear();
  return members;
}

std::vector<db::AttemptMember> AgentPool::Take(const ActiveTrial& trial) {
  if (rooms_.empty()) return {};
  const bool is_new = trial.given.empty();
  if (is_new && hopeless_tp_.contains(trial.tp)) return {};
  std::vector<db::AttemptMember> members = Alone(trial);
  if (members.empty()) members = Together(trial);
  if (members.empty() && is_new) hopeless_tp_.insert(trial.tp);
  for (const db::AttemptMember& member : members) {
    for (Room& room : rooms_) {
      if (room.agent->name == member.agent) room.free.Take(member.first_device, member.ranks);
    }
  }
  std::erase_if(rooms_, [](const Room& room) { return !room.free.any(); });
  return members;
}

std::vector<std::string> AgentPool::Keep(const ActiveTrial& trial) {
  if (rooms_.empty() || std::exchange(keeps_, true)) return {};
  // Agents that have the fewest slots to empty come first.
  std::vector<std::pair<int32_t, const AgentInfo*>> by_taken;
  for (const AgentInfo* agent : AgentsFor(trial, sweep_, agents_)) {
    const Room* const room = RoomOf(agent->name);
    by_taken.emplace_back(
        room == nullptr ? wire::kMostSlots + 1 : agent->slots - room->free.free_slots(), agent);
  }
  std::stable_sort(by_taken.begin(), by_taken.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Agents able;
  able.reserve(by_taken.size());
  for (const auto& [taken, agent] : by_taken) able.push_back(agent);
  std::vector<std::string> kept;
  for (const db::AttemptMember& member : DivideRanks(sweep_, trial.tp, able)) {
    if (RoomOf(member.agent) != nullptr) kept.push_back(member.agent);
  }
  std::erase_if(rooms_, [&](const Room& room) {
    return std::find(kept.begin(), kept.end(), room.agent->name) != kept.end();
  });
  return kept;
}

}  // namespace meshwright::server
