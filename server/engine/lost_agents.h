// LostAgents remembers agents that vanished, so that an operator sees which agents are missing and
// since when.
//
// An agent is forgotten when it connects again, when kLostAgentKept has passed since its loss, or
// when kMostLostAgents other agents were lost after it. Nothing is stored, so a server that has
// just started knows of no lost agents.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "server/engine/engine_input.h"

namespace meshwright::server {

inline constexpr size_t kMostLostAgents = 100;
inline constexpr absl::Duration kLostAgentKept = absl::Hours(24);

struct LostAgent {
  AgentInfo info;
  MonotonicTime last_heard;
  MonotonicTime lost;
};

class LostAgents {
 public:
  void Add(LostAgent agent);
  void Forget(const std::string& name) { agents_.erase(name); }
  bool Has(const std::string& name) const { return agents_.contains(name); }
  // Returns the agents that are not forgotten at the time `now`, by name.
  std::vector<LostAgent> At(MonotonicTime now) const;

 private:
  std::map<std::string, LostAgent> agents_;
};

}  // namespace meshwright::server
