// AgentsService implements meshwright.v1.Agents: one stream per agent, the list of connected
// agents, and requests to drain or resume an agent.
#pragma once

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "server/calls/call_dispatcher.h"
#include "server/services/agent_stream.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {

class AgentsService final : public v1::Agents::CallbackService {
 public:
  // `dispatcher` must outlive the service.
  explicit AgentsService(const CallDispatcher* dispatcher) : dispatcher_(dispatcher) {}
  // `version` and `clock` are the server's. REQUIRES: called before calls are admitted; what
  // `parts` points to outlives the service.
  void Begin(const AgentParts& parts, std::string version, std::function<absl::Time()> clock);

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Connect(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListAgents(grpc::CallbackServerContext* context,
                                       const v1::ListAgentsRequest* request,
                                       v1::ListAgentsResponse* response) override;

  grpc::ServerUnaryReactor* DrainAgent(grpc::CallbackServerContext* context,
                                       const v1::DrainAgentRequest* request,
                                       v1::DrainAgentResponse* response) override;
  grpc::ServerUnaryReactor* ResumeAgent(grpc::CallbackServerContext* context,
                                        const v1::ResumeAgentRequest* request,
                                        v1::ResumeAgentResponse* response) override;

 private:
  const CallDispatcher* const dispatcher_;
  AgentParts parts_;
  SweepEngine* engine_ = nullptr;
  std::string version_;
  std::function<absl::Time()> clock_;
};

}  // namespace meshwright::server
