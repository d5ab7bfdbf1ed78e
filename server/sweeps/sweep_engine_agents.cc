// SweepEngine's handling of agents' messages and of requests about agents.
#include <utility>

#include "base/text/status_macros.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {

ConnectionId SweepEngine::ConnectionOf(const AgentLink* link) const {
  for (const auto& [connection, known] : links_) {
    if (known.get() == link) return connection;
  }
  return 0;
}

absl::Status SweepEngine::Connect(AgentInfo info, const std::vector<wire::AttemptKey>& held,
                                  std::shared_ptr<AgentLink> link) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(closed_to_agents_);
  const ConnectionId connection = ++last_connection_;
  links_[connection] = std::move(link);
  const EngineOutput output = DecideLocked(AgentConnected{std::move(info), connection, held});
  if (!output.status.ok()) links_.erase(connection);
  return output.status;
}

void SweepEngine::Disconnect(const std::string& agent, const AgentLink* link) {
  absl::MutexLock lock(&mutex_);
  const ConnectionId connection = ConnectionOf(link);
  if (connection == 0) return;
  DecideLocked(AgentDisconnected{agent, connection});
  links_.erase(connection);
}

void SweepEngine::Leave(const std::string& agent, const AgentLink* link,
                        const std::string& reason) {
  absl::MutexLock lock(&mutex_);
  const ConnectionId connection = ConnectionOf(link);
  if (connection == 0) return;
  DecideLocked(AgentLeft{agent, connection, reason});
  links_.erase(connection);
}

void SweepEngine::Hear(EngineEvent event) {
  EngineOutput output = Decide(std::move(event));
  if (output.progress) hub_->PublishProgress(*std::move(output.progress));
}

absl::Status SweepEngine::Request(EngineEvent event) { return Decide(std::move(event)).status; }

std::vector<AgentStatus> SweepEngine::ListAgents() {
  absl::MutexLock lock(&mutex_);
  const absl::Time wall = clock_();
  const MonotonicTime now = monotonic_clock_();
  const auto time_of = [&](MonotonicTime then) {
    return wall - (now.since_start - then.since_start);
  };
  const ConnectedAgents& connected = core_.agents();
  std::vector<AgentStatus> agents;
  for (const auto& [name, agent] : connected.all()) {
    agents.push_back({.info = agent.info,
                      .quarantine = connected.QuarantineOf(name),
                      .last_heard = time_of(agent.last_heard)});
    for (const HeldAttempt& held : agent.held) agents.back().held.push_back(held.key);
  }
  for (const LostAgent& agent : core_.lost_agents().At(now)) {
    agents.push_back({.info = agent.info,
                      .quarantine = connected.QuarantineOf(agent.info.name),
                      .lost = true,
                      .last_heard = time_of(agent.last_heard)});
  }
  return agents;
}

void SweepEngine::CloseAgents(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  closed_to_agents_ = status;
  for (const auto& [connection, link] : links_) link->Close(status);
}

}  // namespace meshwright::server
