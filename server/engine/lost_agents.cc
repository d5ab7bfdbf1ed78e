#include "server/engine/lost_agents.h"

#include <algorithm>
#include <utility>

namespace meshwright::server {

void LostAgents::Add(LostAgent agent) {
  const MonotonicTime now = agent.lost;
  const std::string name = agent.info.name;
  agents_.insert_or_assign(name, std::move(agent));
  std::erase_if(agents_,
                [&](const auto& entry) { return entry.second.lost + kLostAgentKept <= now; });
  if (agents_.size() <= kMostLostAgents) return;
  agents_.erase(std::min_element(agents_.begin(), agents_.end(), [](const auto& a, const auto& b) {
    return a.second.lost < b.second.lost;
  }));
}

std::vector<LostAgent> LostAgents::At(MonotonicTime now) const {
  std::vector<LostAgent> agents;
  for (const auto& [name, agent] : agents_) {
    if (now < agent.lost + kLostAgentKept) agents.push_back(agent);
  }
  return agents;
}

}  // namespace meshwright::server
