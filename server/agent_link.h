// The server's end of one agent's stream, as the engine sees it: no protobuf, never blocks.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "executor/agent/attempt_key.h"

namespace meshwright::server {

class AgentLink {
 public:
  virtual ~AgentLink() = default;
  // The agent is registered; comes before everything else.
  virtual void Welcome() = 0;
  // `token`: what the attempt's result has to bring (server/attempt_token.h).
  virtual void Assign(const agent::AttemptKey& key, const std::string& token,
                      const std::string& plan_json, const std::string& reason) = 0;
  virtual void Cancel(const agent::AttemptKey& key, const std::string& reason) = 0;
  // Ends the stream with this status.
  virtual void Close(const absl::Status& status) = 0;
};

}  // namespace meshwright::server
