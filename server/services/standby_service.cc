#include "server/services/standby_service.h"

#include <utility>

#include "base/text/status_macros.h"
#include "base/text/utf8.h"
#include "executor/wire/wire.h"
#include "server/calls/call_status.h"

namespace meshwright::server {
namespace {

// A stream that can't begin: it ends at once with a status.
class RefusedFollow final : public grpc::ServerBidiReactor<v1::FollowRequest, v1::FollowResponse> {
 public:
  explicit RefusedFollow(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

v1::StandbyLag ToWire(const StandbyLag& lag) {
  v1::StandbyLag message;
  message.set_name(ValidUtf8(lag.name));
  message.set_connected(lag.connected);
  message.set_complete(lag.complete);
  message.set_transactions(lag.transactions);
  message.set_behind_bytes(lag.bytes);
  message.set_behind_s(absl::ToDoubleSeconds(lag.time));
  return message;
}

}  // namespace

grpc::ServerBidiReactor<v1::FollowRequest, v1::FollowResponse>* StandbyService::Follow(
    grpc::CallbackServerContext* context) {
  const absl::Status status = dispatcher_->CheckOpen();
  if (!status.ok()) return new RefusedFollow(Reply(status));
  absl::StatusOr<StreamLease> lease = dispatcher_->LeaseWatcherStream(*context);
  if (!lease.ok()) return new RefusedFollow(Reply(lease.status()));
  return new FollowStream(parts_, *std::move(lease));
}

grpc::ServerUnaryReactor* StandbyService::TakeOver(grpc::CallbackServerContext* context,
                                                   const v1::TakeOverRequest* request,
                                                   v1::TakeOverResponse* response) {
  return dispatcher_->AnswerEvenIfClosed(
      context, *request, [this, context, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const std::string actor, dispatcher_->ActorOf(*context));
        ASSIGN_OR_RETURN(const TakenOver taken, hooks_.take_over(actor));
        response->set_epoch(taken.epoch);
        *response->mutable_lag() = ToWire(taken.lag);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* StandbyService::GetStanding(grpc::CallbackServerContext* context,
                                                      const v1::GetStandingRequest* request,
                                                      v1::GetStandingResponse* response) {
  return dispatcher_->AnswerEvenIfClosed(context, *request, [this, response] {
    const Standing standing = hooks_.standing();
    response->set_is_standby(standing.is_standby);
    response->set_store_id(standing.store_id);
    response->set_epoch(standing.epoch);
    response->set_follows(standing.follows);
    if (standing.lag) *response->mutable_lag() = ToWire(*standing.lag);
    for (const StandbyLag& lag : standing.standbys) *response->add_standbys() = ToWire(lag);
    for (const MissingResult& missing : standing.missing) {
      v1::MissingResult* out = response->add_missing_results();
      const v1::AttemptRef ref = wire::ToWire(missing.key);
      out->set_trial(ref.trial());
      out->set_attempt(ref.attempt());
      out->set_agent(missing.agent);
      out->set_acknowledged_epoch(missing.acknowledged_epoch);
    }
    response->set_server_version(hooks_.version);
    *response->mutable_server_time() = wire::ToWire(hooks_.clock());
    return absl::OkStatus();
  });
}

}  // namespace meshwright::server
