#include "server/calls/call_dispatcher.h"

#include <memory>
#include <utility>

#include "base/text/status_macros.h"
#include "executor/wire/field_limits.h"
#include "server/calls/call_status.h"

namespace meshwright::server {

absl::Status CallDispatcher::CheckOpen() const {
  if (stopping_->load()) return ServerStops();
  if (open_.load()) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  if (!why_closed_.ok()) return why_closed_;
  return absl::UnavailableError(
      "the server is opening its database and answers once that is done: try again");
}

void CallDispatcher::Close(const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  why_closed_ = why;
  open_.store(false);
}

absl::Status CallDispatcher::Admit(const grpc::CallbackServerContext& context,
                                   const google::protobuf::Message& request) const {
  guard_->Received(context.peer(), static_cast<int64_t>(request.ByteSizeLong()));
  RETURN_IF_ERROR(CheckOpen());
  return wire::CheckLimits(request);
}

absl::StatusOr<StreamLease> CallDispatcher::Lease(const grpc::CallbackServerContext& context,
                                                  ConcurrencyLimit& limit) const {
  ASSIGN_OR_RETURN(std::optional<Caller> caller, access_->CallerOf(context));
  ASSIGN_OR_RETURN(std::unique_ptr<ConcurrencyLimit::Slot> slot,
                   limit.Take(caller ? caller->ToText() : ""));
  return StreamLease(access_, std::move(caller), std::move(slot), guard_, context.peer());
}

absl::StatusOr<std::string> CallDispatcher::ActorOf(
    const grpc::CallbackServerContext& context) const {
  ASSIGN_OR_RETURN(const std::optional<Caller> caller, access_->CallerOf(context));
  return caller ? caller->ToText() : "";
}

absl::StatusOr<CallDispatcher::Pending> CallDispatcher::Enter(
    const grpc::CallbackServerContext& context, const google::protobuf::Message& request) const {
  RETURN_IF_ERROR(Admit(context, request));
  return EnterAdmitted(context);
}

absl::StatusOr<CallDispatcher::Pending> CallDispatcher::EnterAdmitted(
    const grpc::CallbackServerContext& context) const {
  ASSIGN_OR_RETURN(std::string caller, ActorOf(context));
  ASSIGN_OR_RETURN(std::unique_ptr<ConcurrencyLimit::Slot> slot, limits_->calls().Take(caller));
  return Pending{.caller = std::move(caller), .slot = std::move(slot)};
}

grpc::ServerUnaryReactor* CallDispatcher::Answer(grpc::CallbackServerContext* context,
                                                 const google::protobuf::Message& request,
                                                 const std::function<absl::Status()>& work) const {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<Pending> pending = Enter(*context, request);
  const absl::Status status = pending.ok() ? work() : pending.status();
  // The slot is free before the client gets the answer, so that its next call finds one.
  if (pending.ok()) pending->slot.reset();
  reactor->Finish(Reply(status));
  return reactor;
}

grpc::ServerUnaryReactor* CallDispatcher::AnswerOnceStored(
    grpc::CallbackServerContext* context, const google::protobuf::Message& request,
    std::function<absl::Status()> work) const {
  return AnswerBlocking(context, Enter(*context, request), std::move(work));
}

grpc::ServerUnaryReactor* CallDispatcher::AnswerEvenIfClosed(
    grpc::CallbackServerContext* context, const google::protobuf::Message& request,
    std::function<absl::Status()> work) const {
  guard_->Received(context->peer(), static_cast<int64_t>(request.ByteSizeLong()));
  if (stopping_->load()) return AnswerBlocking(context, ServerStops(), std::move(work));
  return AnswerBlocking(context, EnterAdmitted(*context), std::move(work));
}

grpc::ServerUnaryReactor* CallDispatcher::AnswerBlocking(grpc::CallbackServerContext* context,
                                                         absl::StatusOr<Pending> pending,
                                                         std::function<absl::Status()> work) const {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (!pending.ok()) {
    reactor->Finish(Reply(pending.status()));
    return reactor;
  }
  blocking_calls_->Submit(
      {.work = [context, work = std::move(work)]() -> absl::Status {
         if (context->IsCancelled()) {
           return absl::CancelledError("the call ended before its turn came");
         }
         return work();
       },
       .done =
           [reactor, slot = std::move(pending->slot)](const absl::Status& status) mutable {
             slot.reset();  // before the answer, as above
             reactor->Finish(Reply(status));
           }});
  return reactor;
}

absl::Status CallDispatcher::RunBounded(const SearchCall& search, int32_t threads,
                                        const planner::Cancelled& cancelled) const {
  const MonotonicTime end = limits_->SearchEnd();
  const absl::Status status = search({.threads = threads, .cancelled = [this, end, &cancelled] {
                                        return cancelled() || limits_->IsOver(end);
                                      }});
  return absl::IsCancelled(status) && !cancelled() ? limits_->SearchTookTooLong() : status;
}

void CallDispatcher::Search(grpc::CallbackServerContext* context,
                            const google::protobuf::Message& request, SearchCall search,
                            std::function<void(const absl::Status&)> done) const {
  if (const absl::Status status = Admit(*context, request); !status.ok()) return done(status);
  const absl::StatusOr<std::string> caller = ActorOf(*context);
  if (!caller.ok()) return done(caller.status());
  SubmitSearch(context, *caller, std::move(search), std::move(done));
}

void CallDispatcher::SubmitSearch(grpc::CallbackServerContext* context, const std::string& caller,
                                  SearchCall search,
                                  std::function<void(const absl::Status&)> done) const {
  absl::StatusOr<std::unique_ptr<ConcurrencyLimit::Slot>> taken = limits_->searches().Take(caller);
  if (!taken.ok()) return done(taken.status());
  // gRPC cancels a call whose deadline has passed.
  const planner::Cancelled cancelled = [context, stopping = stopping_] {
    return stopping->load() || context->IsCancelled();
  };
  searches_->Submit(
      {.cancelled = cancelled,
       .work = [this, search = std::move(search),
                cancelled](int32_t threads) { return RunBounded(search, threads, cancelled); },
       .done =
           [done = std::move(done), stopping = stopping_,
            slot = std::shared_ptr<ConcurrencyLimit::Slot>(*std::move(taken))](
               const absl::Status& status) mutable {
             slot.reset();  // before the answer, as above
             const bool stopped = absl::IsCancelled(status) && stopping->load();
             done(stopped ? ServerStops() : status);
           }});
}

grpc::ServerUnaryReactor* CallDispatcher::AnswerWithSearch(grpc::CallbackServerContext* context,
                                                           const google::protobuf::Message& request,
                                                           SearchCall search) const {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<Pending> pending = Enter(*context, request);
  if (!pending.ok()) {
    reactor->Finish(Reply(pending.status()));
    return reactor;
  }
  SubmitSearch(context, pending->caller, std::move(search),
               [reactor, slot = std::move(pending->slot)](const absl::Status& status) mutable {
                 slot.reset();  // before the answer, as above
                 reactor->Finish(Reply(status));
               });
  return reactor;
}

}  // namespace meshwright::server
