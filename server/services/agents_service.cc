#include "server/services/agents_service.h"

#include <utility>

#include "base/text/status_macros.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/wire.h"
#include "server/calls/call_status.h"

namespace meshwright::server {
namespace {

// A stream that can't begin: it ends at once with a status.
class RefusedStream final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage> {
 public:
  explicit RefusedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

void AgentsService::Begin(const AgentParts& parts, std::string version,
                          std::function<absl::Time()> clock) {
  parts_ = parts;
  engine_ = parts.engine;
  version_ = std::move(version);
  clock_ = std::move(clock);
}

grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* AgentsService::Connect(
    grpc::CallbackServerContext* context) {
  const absl::Status status = dispatcher_->CheckOpen();
  if (!status.ok()) return new RefusedStream(Reply(status));
  absl::StatusOr<StreamLease> lease = dispatcher_->LeaseAgentStream(*context);
  if (!lease.ok()) return new RefusedStream(Reply(lease.status()));
  return new AgentStream(parts_, *std::move(lease));
}

grpc::ServerUnaryReactor* AgentsService::ListAgents(grpc::CallbackServerContext* context,
                                                    const v1::ListAgentsRequest* request,
                                                    v1::ListAgentsResponse* response) {
  return dispatcher_->Answer(context, *request, [this, response] {
    response->set_server_version(version_);
    *response->mutable_server_time() = wire::ToWire(clock_());
    for (const AgentStatus& status : engine_->ListAgents()) {
      v1::Agent* agent = response->add_agents();
      agent->set_name(status.info.name);
      agent->set_host(status.info.host);
      agent->mutable_device_set()->set_device_kind(
          wire::EnumOf<v1::DeviceKind>(status.info.device_kind));
      agent->mutable_device_set()->set_devices(status.info.devices);
      agent->mutable_device_set()->set_memory_bytes(status.info.memory_bytes);
      agent->set_version(status.info.version);
      *agent->mutable_connect_time() = wire::ToWire(status.info.connect_time);
      agent->set_state(status.lost ? v1::AGENT_STATE_LOST : v1::AGENT_STATE_CONNECTED);
      *agent->mutable_last_heard_time() = wire::ToWire(status.last_heard);
      agent->set_address(status.info.address);
      agent->set_cluster_json(status.info.cluster_json);
      agent->set_drained(status.quarantine.drained);
      agent->set_set_aside_reason(status.quarantine.set_aside_reason);
      agent->set_failures_in_a_row(status.quarantine.failures);
      agent->set_slots(status.info.slots);
      for (const wire::RunnerOffer& offer : status.info.runners) {
        *agent->add_runners() = wire::ToWire(offer);
      }
      for (size_t i = 0; i < status.held.size(); ++i) {
        *(i == 0 ? agent->mutable_running() : agent->add_running_beside()) =
            wire::ToWire(status.held[i]);
      }
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* AgentsService::DrainAgent(grpc::CallbackServerContext* context,
                                                    const v1::DrainAgentRequest* request,
                                                    v1::DrainAgentResponse*) {
  return dispatcher_->AnswerOnceStored(
      context, *request, [this, context, request]() -> absl::Status {
        ASSIGN_OR_RETURN(const std::string actor, dispatcher_->ActorOf(*context));
        return engine_->RequestAndStore(DrainRequested{request->name(), actor});
      });
}

grpc::ServerUnaryReactor* AgentsService::ResumeAgent(grpc::CallbackServerContext* context,
                                                     const v1::ResumeAgentRequest* request,
                                                     v1::ResumeAgentResponse*) {
  return dispatcher_->AnswerOnceStored(
      context, *request, [this, context, request]() -> absl::Status {
        ASSIGN_OR_RETURN(const std::string actor, dispatcher_->ActorOf(*context));
        return engine_->RequestAndStore(ResumeRequested{request->name(), actor});
      });
}

}  // namespace meshwright::server
