// What an agent reports of itself when it connects.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace meshwright::server {

struct AgentInfo {
  std::string name;
  std::string instance;       // tells this process from another one of the same name
  std::string identity = {};  // stays the same when the agent restarts; may be empty
  std::string host;
  std::string device_kind;  // cpu or cuda
  int32_t devices = 0;
  int32_t slots = 1;         // equal parts of its devices that run trials side by side
  int64_t memory_bytes = 0;  // per device; 0 where it is not limited
  std::string version;
  std::string address = {};       // where other agents reach it; empty where none do
  std::string cluster_json = {};  // its devices as it measured them; empty where it did not
  absl::Time connect_time;
};

}  // namespace meshwright::server
