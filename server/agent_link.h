// The server's end of one agent's stream, as the engine sees it: no protobuf, never blocks.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "executor/agent/attempt_key.h"

namespace meshwright::server {

struct AgentInfo {
  std::string name;
  std::string instance;       // tells this process from another one of the same name
  std::string identity = {};  // what the agent keeps when it is started anew; may be empty
  std::string host;
  std::string device_kind;  // cpu or cuda
  int32_t devices = 0;
  int64_t memory_bytes = 0;  // per device; 0 where it is not limited
  std::string version;
  std::string cluster_json = {};  // of its devices as it measured them; empty where it did not
  absl::Time connect_time;
};

class AgentLink {
 public:
  virtual ~AgentLink() = default;
  // The agent is registered; comes before everything else.
  virtual void Welcome() = 0;
  virtual void Assign(const agent::AttemptKey& key, const std::string& plan_json,
                      const std::string& reason) = 0;
  virtual void Cancel(const agent::AttemptKey& key, const std::string& reason) = 0;
  // Ends the stream with this status.
  virtual void Close(const absl::Status& status) = 0;
};

}  // namespace meshwright::server
