#include "server/calls.h"

#include <utility>

#include "executor/agent/field_limits.h"
#include "planner/base/status_macros.h"
#include "server/plan_request.h"

namespace meshwright::server {

absl::Status Calls::Admit(const google::protobuf::Message& request) const {
  if (!open_.load()) {
    return absl::UnavailableError(
        "the server is opening its database and answers once that is done: try again");
  }
  return agent::CheckLimits(request);
}

absl::StatusOr<std::string> Calls::ActorOf(const grpc::CallbackServerContext& context) const {
  ASSIGN_OR_RETURN(const std::optional<Caller> caller, access_->CallerOf(context));
  return caller ? caller->ToText() : "";
}

grpc::ServerUnaryReactor* Calls::Answer(grpc::CallbackServerContext* context,
                                        const google::protobuf::Message& request,
                                        const std::function<absl::Status()>& work) const {
  absl::Status status = Admit(request);
  if (status.ok()) status = work();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(Reply(status));
  return reactor;
}

void Calls::Search(grpc::CallbackServerContext* context, const google::protobuf::Message& request,
                   SearchCall search, std::function<void(const absl::Status&)> done) const {
  if (const absl::Status status = Admit(request); !status.ok()) return done(status);
  // gRPC cancels a call whose deadline has passed.
  const planner::Cancelled cancelled = [context, stopping = stopping_] {
    return stopping->load() || context->IsCancelled();
  };
  searches_->Submit(
      {.cancelled = cancelled,
       .work =
           [search = std::move(search), cancelled](int32_t threads) {
             return search({.threads = threads, .cancelled = cancelled});
           },
       .done =
           [done = std::move(done), stopping = stopping_](const absl::Status& status) {
             const bool stopped = absl::IsCancelled(status) && stopping->load();
             done(stopped ? absl::UnavailableError("the server stops") : status);
           }});
}

grpc::ServerUnaryReactor* Calls::AnswerWithSearch(grpc::CallbackServerContext* context,
                                                  const google::protobuf::Message& request,
                                                  SearchCall search) const {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  Search(context, request, std::move(search),
         [reactor](const absl::Status& status) { reactor->Finish(Reply(status)); });
  return reactor;
}

}  // namespace meshwright::server
