#include "server/engine/connected_agents.h"

#include <utility>

namespace meshwright::server {
namespace {

bool IsOpen(const db::AgentQuarantine& quarantine) {
  return !quarantine.drained && quarantine.set_aside_reason.empty();
}

}  // namespace

db::AgentQuarantine ConnectedAgents::QuarantineOf(const std::string& name) const {
  const auto found = quarantines_.find(name);
  return found == quarantines_.end() ? db::AgentQuarantine{.agent = name} : found->second;
}

void ConnectedAgents::SetQuarantine(const db::AgentQuarantine& quarantine) {
  ++generation_;
  quarantines_[quarantine.agent] = quarantine;
}

bool ConnectedAgents::TakesTrials(const std::string& name) const {
  const auto found = quarantines_.find(name);
  return !IsReleased(name) && (found == quarantines_.end() || IsOpen(found->second));
}

std::set<std::string> ConnectedAgents::Closed() const {
  std::set<std::string> closed;
  for (const auto& [name, quarantine] : quarantines_) {
    if (!IsOpen(quarantine)) closed.insert(name);
  }
  return closed;
}

void ConnectedAgents::Release(const std::string& name) {
  if (released_.insert(name).second) ++generation_;
}

void ConnectedAgents::Admit(const std::string& name) {
  if (released_.erase(name) > 0) ++generation_;
}

ConnectedAgent* ConnectedAgents::Find(const std::string& name) {
  const auto found = agents_.find(name);
  return found == agents_.end() ? nullptr : &found->second;
}

ConnectedAgent* ConnectedAgents::Find(const std::string& name, ConnectionId connection) {
  ConnectedAgent* const agent = Find(name);
  return agent != nullptr && agent->connection == connection ? agent : nullptr;
}

ConnectedAgent& ConnectedAgents::Add(ConnectedAgent agent) {
  ++generation_;
  const std::string name = agent.info.name;
  ConnectedAgent& added = agents_[name] = std::move(agent);
  CountFree(added);
  return added;
}

void ConnectedAgents::Remove(const std::string& name) {
  ++generation_;
  agents_.erase(name);
  with_room_.erase(name);
}

void ConnectedAgents::Hold(ConnectedAgent& agent, const wire::AttemptKey& key,
                           const db::AttemptMember& part) {
  agent.held.push_back(
      {.key = key, .devices = HeldAttempt::Devices{part.first_device, part.ranks}});
  CountFree(agent);
}

void ConnectedAgents::SetHeld(ConnectedAgent& agent, std::vector<HeldAttempt> held,
                              MonotonicTime now) {
  if (held.empty() && !agent.held.empty()) agent.idle_since = now;
  agent.held = std::move(held);
  CountFree(agent);
}

void ConnectedAgents::CountFree(ConnectedAgent& agent) {
  agent.free = FreeDevices(agent.info.devices, agent.info.slots);
  for (const HeldAttempt& attempt : agent.held) {
    if (attempt.devices) {
      agent.free.Take(attempt.devices->first, attempt.devices->count);
    } else {
      agent.free.TakeAll();
    }
  }
  if (agent.free.any()) {
    with_room_.insert(agent.info.name);
  } else {
    with_room_.erase(agent.info.name);
  }
}

void ConnectedAgents::Confirm(ConnectedAgent& agent, const wire::AttemptKey& key) {
  for (HeldAttempt& held : agent.held) held.confirmed = held.confirmed || held.key == key;
}

void ConnectedAgents::Answer(ConnectedAgent& agent, const wire::AttemptKey& key,
                             MonotonicTime now) {
  std::vector<HeldAttempt> held = agent.held;
  std::erase_if(held, [&](const HeldAttempt& attempt) { return attempt.key == key; });
  SetHeld(agent, std::move(held), now);
  agent.answered.push_back(key);
}

}  // namespace meshwright::server
