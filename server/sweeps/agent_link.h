// AgentLink is the server's end of one agent's stream, as the engine sees it. It hides protobuf,
// and none of its functions blocks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "db/records.h"
#include "executor/wire/attempt_key.h"

namespace meshwright::server {

// An agent's share of an attempt, as the agent gets it.
struct AssignedAttempt {
  wire::AttemptKey key;
  std::string token;  // to be sent back with the attempt's result (server/sweeps/attempt_tokens.h)
  std::string plan_json;
  std::string reason;
  std::vector<db::AttemptMember> members;  // which agent has which ranks
  size_t member = 0;                       // index of this agent in `members`
  // The secret by which several members authenticate to each other; empty for a single member.
  std::string gang_secret;
};

// Messages are queued until Flush() or Close(), so that related messages are sent together.
class AgentLink {
 public:
  virtual ~AgentLink() = default;
  // Tells the agent that it is registered. Precedes every other message.
  virtual void Welcome() = 0;
  virtual void Assign(const AssignedAttempt& attempt) = 0;
  // Tells the agent that all members of the attempt are ready and that they meet at `rendezvous`.
  virtual void Start(const wire::AttemptKey& key, const std::string& rendezvous) = 0;
  virtual void Cancel(const wire::AttemptKey& key, const std::string& reason) = 0;
  virtual void Flush() = 0;
  // Ends the stream with this status.
  virtual void Close(const absl::Status& status) = 0;
};

}  // namespace meshwright::server
