#include "server/agents_service.h"

#include <utility>

#include "executor/agent/message_codec.h"
#include "executor/agent/wire.h"
#include "server/agent_stream.h"
#include "server/plan_request.h"

namespace meshwright::server {
namespace {

// A stream that can't begin: ends at once with a status.
class RefusedStream final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage> {
 public:
  explicit RefusedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

void AgentsService::Begin(SweepEngine* engine, std::string store_id, std::string version,
                          std::function<absl::Time()> clock) {
  engine_ = engine;
  store_id_ = std::move(store_id);
  version_ = std::move(version);
  clock_ = std::move(clock);
}

grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* AgentsService::Connect(
    grpc::CallbackServerContext* context) {
  // Nothing was read yet: the stream looks at each message itself.
  const absl::Status status = calls_->Admit(v1::AgentMessage());
  if (!status.ok()) return new RefusedStream(Reply(status));
  absl::StatusOr<std::optional<Caller>> caller = calls_->access().CallerOf(*context);
  if (!caller.ok()) return new RefusedStream(Reply(caller.status()));
  return new AgentStream(engine_, store_id_, &calls_->access(), *std::move(caller));
}

grpc::ServerUnaryReactor* AgentsService::ListAgents(grpc::CallbackServerContext* context,
                                                    const v1::ListAgentsRequest* request,
                                                    v1::ListAgentsResponse* response) {
  return calls_->Answer(context, *request, [this, response] {
    response->set_server_version(version_);
    *response->mutable_server_time() = agent::ToWire(clock_());
    for (const AgentStatus& status : engine_->ListAgents()) {
      v1::Agent* agent = response->add_agents();
      agent->set_name(status.info.name);
      agent->set_host(status.info.host);
      agent->mutable_device_set()->set_device_kind(
          agent::EnumOf<v1::DeviceKind>(status.info.device_kind));
      agent->mutable_device_set()->set_devices(status.info.devices);
      agent->mutable_device_set()->set_memory_bytes(status.info.memory_bytes);
      agent->set_version(status.info.version);
      *agent->mutable_connect_time() = agent::ToWire(status.info.connect_time);
      agent->set_cluster_json(status.info.cluster_json);
      if (!status.held.empty()) *agent->mutable_running() = agent::ToWire(status.held.front());
    }
    return absl::OkStatus();
  });
}

}  // namespace meshwright::server
