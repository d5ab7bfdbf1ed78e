// meshwright.v1.Agents: one stream per agent, and the list of those that are connected.
#pragma once

#include <string>

#include "meshwright/v1/agents.grpc.pb.h"
#include "server/sweep_engine.h"

namespace meshwright {

class AgentsService final : public v1::Agents::CallbackService {
 public:
  // `engine` must outlive the service.
  AgentsService(SweepEngine* engine, std::string store_id)
      : engine_(engine), store_id_(std::move(store_id)) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Connect(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListAgents(grpc::CallbackServerContext* context,
                                       const v1::ListAgentsRequest* request,
                                       v1::ListAgentsResponse* response) override;

 private:
  SweepEngine* const engine_;
  const std::string store_id_;
};

}  // namespace meshwright
