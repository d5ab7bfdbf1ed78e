// ConnectedAgents tracks which agents are connected, which attempts each agent holds, which of its
// devices are free, and which agents are quarantined, drained or released.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/system/monotonic_time.h"
#include "db/records.h"
#include "executor/wire/attempt_key.h"
#include "server/engine/engine_input.h"
#include "server/engine/free_devices.h"

namespace meshwright::server {

struct HeldAttempt {
  wire::AttemptKey key;
  bool confirmed = false;  // the agent confirmed that it has the attempt; until then the assignment
                           // is in transit
  // Consecutive devices of an agent.
  struct Devices {
    int32_t first = 0;
    int32_t count = 0;
  };
  // The agent's devices on which the attempt runs. nullopt if the engine no longer knows the
  // attempt; the attempt then counts as using all devices of the agent.
  std::optional<Devices> devices = {};
};

struct ConnectedAgent {
  AgentInfo info;
  ConnectionId connection = 0;
  std::vector<HeldAttempt> held = {};
  FreeDevices free{1, 1};  // the devices that `held` leaves free
  // Attempts whose results the server acknowledged. Heartbeats that the agent sent before it got
  // the acknowledgement still name the attempt.
  std::vector<wire::AttemptKey> answered = {};
  MonotonicTime last_heard = {};
  MonotonicTime idle_since = {};  // while it holds nothing
  // The instance of a restarted process that claims to be this agent; empty if there is none.
  std::string claimant = {};
  // The number of consecutive attempts on this connection that the agent reported as cancelled
  // although nobody had cancelled them.
  int32_t unasked_cancels = 0;
  MonotonicTime claimed = {};  // when `claimant` made its claim
};

class ConnectedAgents {
 public:
  const std::map<std::string, ConnectedAgent>& all() const { return agents_; }
  // Returns the names of agents that have a free slot.
  const std::set<std::string>& with_room() const { return with_room_; }
  // Returns a number that changes whenever an agent comes or goes, or a decision about an agent
  // changes.
  int64_t generation() const { return generation_; }

  // Returns the quarantine record of an agent, connected or not. An agent without a quarantine
  // record takes trials.
  db::AgentQuarantine QuarantineOf(const std::string& name) const;
  bool HasQuarantine(const std::string& name) const { return quarantines_.contains(name); }
  void SetQuarantine(const db::AgentQuarantine& quarantine);
  // Returns whether the agent gets trials: it is neither quarantined, drained nor released.
  bool TakesTrials(const std::string& name) const;
  // Returns the names of agents that were drained or quarantined.
  std::set<std::string> Closed() const;

  // Releases an agent, connected or not: it gets no further trials, because the launcher that
  // started it is about to end it. Releases are kept by the agent's name, and in memory only.
  void Release(const std::string& name);
  // Ends the release.
  void Admit(const std::string& name);
  bool IsReleased(const std::string& name) const { return released_.contains(name); }

  // Returns the connected agent of that name; null if there is none.
  ConnectedAgent* Find(const std::string& name);
  // Returns the agent of this name and connection; null if there is none.
  ConnectedAgent* Find(const std::string& name, ConnectionId connection);
  ConnectedAgent& Add(ConnectedAgent agent);
  void Remove(const std::string& name);

  void Hold(ConnectedAgent& agent, const wire::AttemptKey& key, const db::AttemptMember& part);
  void SetHeld(ConnectedAgent& agent, std::vector<HeldAttempt> held, MonotonicTime now);
  // Notes that the agent confirmed that it has the attempt.
  void Confirm(ConnectedAgent& agent, const wire::AttemptKey& key);
  // Notes that the server acknowledged a result of the attempt. The agent no longer holds the
  // attempt.
  void Answer(ConnectedAgent& agent, const wire::AttemptKey& key, MonotonicTime now);

 private:
  void CountFree(ConnectedAgent& agent);

  std::map<std::string, ConnectedAgent> agents_;
  std::set<std::string> with_room_;
  std::map<std::string, db::AgentQuarantine> quarantines_;
  std::set<std::string> released_;
  int64_t generation_ = 0;
};

}  // namespace meshwright::server
