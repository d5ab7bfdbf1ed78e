// meshwright.v1.Agents: one stream per agent, and the list of those that are connected.
#pragma once

#include <string>

#include "meshwright/v1/agents.grpc.pb.h"
#include "server/calls.h"
#include "server/sweep_engine.h"

namespace meshwright::server {

class AgentsService final : public v1::Agents::CallbackService {
 public:
  // `calls` outlives it.
  explicit AgentsService(const Calls* calls) : calls_(calls) {}
  // Before calls are let in. `engine` outlives the service.
  void Begin(SweepEngine* engine, std::string store_id);

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
  const Calls* const calls_;
  SweepEngine* engine_ = nullptr;
  std::string store_id_;
};

}  // namespace meshwright::server
