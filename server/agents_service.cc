#include "server/agents_service.h"

#include "executor/agent/wire.h"
#include "server/agent_stream.h"

namespace meshwright {

grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* AgentsService::Connect(
    grpc::CallbackServerContext*) {
  return new AgentStream(engine_, store_id_);
}

grpc::ServerUnaryReactor* AgentsService::ListAgents(grpc::CallbackServerContext* context,
                                                    const v1::ListAgentsRequest*,
                                                    v1::ListAgentsResponse* response) {
  for (const AgentStatus& status : engine_->ListAgents()) {
    v1::Agent* agent = response->add_agents();
    agent->set_name(status.info.name);
    agent->set_host(status.info.host);
    agent->mutable_device_set()->set_device_kind(status.info.device_kind);
    agent->mutable_device_set()->set_devices(status.info.devices);
    agent->mutable_device_set()->set_memory_bytes(status.info.memory_bytes);
    agent->set_version(status.info.version);
    *agent->mutable_connect_time() = ToWire(status.info.connect_time);
    agent->set_cluster_json(status.info.cluster_json);
    if (!status.held.empty()) *agent->mutable_running() = ToWire(status.held.front());
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace meshwright
