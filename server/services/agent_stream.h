// AgentStream is the server's end of one agent's stream. It turns the agent's messages into calls
// of the engine, and the engine's orders into messages.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "server/calls/stream_lease.h"
#include "server/standby/authority.h"
#include "server/standby/change_log.h"
#include "server/standby/missing_results.h"
#include "server/sweeps/agent_link.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {

// What all agents' streams share.
struct AgentParts {
  SweepEngine* engine = nullptr;
  Authority* authority = nullptr;
  ChangeLog* changes = nullptr;
  MissingResults* missing = nullptr;
};

// Deletes itself when the stream is over.
class AgentStream final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage> {
 public:
  // What `parts` points to must outlive the stream.
  AgentStream(const AgentParts& parts, StreamLease lease);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  class Link;

  // Handles one message. A status other than OK ends the stream.
  absl::Status Handle(const v1::AgentMessage& message);
  absl::Status Register(const v1::Register& message);
  // Returns PermissionDenied if `name` is not the name of the caller's agent.
  absl::Status CheckName(const std::string& name) const;
  void Finished(const v1::TrialFinished& message);
  // Returns the attempts of this server's store that the agent says it holds. Notes the results
  // among them that a server of an earlier epoch acknowledged and that this store lacks.
  std::vector<wire::AttemptKey> HeldOf(const v1::Register& message) const;
  // Returns FailedPrecondition if the agent met a server of a later epoch.
  absl::Status CheckEpochs(const v1::Register& message) const;

  const AgentParts parts_;
  SweepEngine* const engine_;
  const StreamLease lease_;
  std::shared_ptr<Link> link_;
  std::string agent_;  // empty until the agent is registered
  v1::AgentMessage incoming_;
};

}  // namespace meshwright::server
