// AgentLink is the server's end of one agent's stream, as the engine sees it: no protobuf, never
// blocks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "db/records.h"
#include "executor/wire/attempt_key.h"

namespace meshwright::server {

// An agent's part of an attempt, as it is sent.
struct AssignedAttempt {
  wire::AttemptKey key;
  std::string token;  // to be sent back with the attempt's result (server/sweeps/attempt_tokens.h)
  std::string plan_json;
  std::string reason;
  // Which agent has which ranks, the index of this agent among them, and the secret by which
  // several members authenticate to each other.
  std::vector<db::AttemptMember> members;
  size_t member = 0;
  std::string gang_secret;
};

// Messages wait for Flush(), so that those that belong together are sent at once; Close() sends
// them too.
class AgentLink {
 public:
  virtual ~AgentLink() = default;
  // The agent is registered; precedes everything else.
  virtual void Welcome() = 0;
  virtual void Assign(const AssignedAttempt& attempt) = 0;
  // All members of the attempt are ready: they meet at `rendezvous`.
  virtual void Start(const wire::AttemptKey& key, const std::string& rendezvous) = 0;
  virtual void Cancel(const wire::AttemptKey& key, const std::string& reason) = 0;
  virtual void Flush() = 0;
  // Ends the stream with this status.
  virtual void Close(const absl::Status& status) = 0;
};

}  // namespace meshwright::server
