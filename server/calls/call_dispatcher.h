// CallDispatcher admits each call before a service handles it, and sends the answer.
//
// Callers may rely on:
// - No service handles a call before Open(). The objects that services use may therefore be created
//   after the port is bound.
// - Every request that reaches a service is within the limits of executor/wire/field_limits.h.
// - A unary call holds a slot among the pending calls (server/calls/limits.h) from its admission
//   until just before it is answered, whatever it waits for in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "google/protobuf/message.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "planner/search/search.h"
#include "server/calls/access.h"
#include "server/calls/blocking_call_pool.h"
#include "server/calls/concurrency_limit.h"
#include "server/calls/connection_guard.h"
#include "server/calls/limits.h"
#include "server/calls/search_pool.h"
#include "server/calls/stream_lease.h"

namespace meshwright::server {

class CallDispatcher {
 public:
  // `stopping` turns true when the server stops. REQUIRES: all arguments outlive the dispatcher.
  CallDispatcher(SearchPool* searches, BlockingCallPool* blocking_calls,
                 const std::atomic<bool>* stopping, const Access* access, Limits* limits,
                 ConnectionGuard* guard)
      : searches_(searches),
        blocking_calls_(blocking_calls),
        stopping_(stopping),
        access_(access),
        limits_(limits),
        guard_(guard) {}

  // Starts to admit calls.
  void Open() { open_.store(true); }
  // Refuses calls with this status until Open(). REQUIRES: not OK.
  void Close(const absl::Status& why);

  // Returns Unavailable before Open() and once the server stops, or the status of Close().
  absl::Status CheckOpen() const;
  // Tells the guard that the request arrived. Returns the errors of CheckOpen(), and
  // InvalidArgument if the request or one of its fields is too long.
  absl::Status Admit(const grpc::CallbackServerContext& context,
                     const google::protobuf::Message& request) const;

  // Leases a slot for an agent's stream, which stays open. Returns ResourceExhausted if the limit
  // is reached. REQUIRES: the dispatcher outlives the lease.
  absl::StatusOr<StreamLease> LeaseAgentStream(const grpc::CallbackServerContext& context) const {
    return Lease(context, limits_->agents());
  }
  // Leases a slot for a watcher's stream, under the contract of LeaseAgentStream().
  absl::StatusOr<StreamLease> LeaseWatcherStream(const grpc::CallbackServerContext& context) const {
    return Lease(context, limits_->watchers());
  }

  // Returns the caller as events name it, or an empty text if callers need not authenticate. The
  // caller's permission was checked before (server/calls/call_checker.h).
  absl::StatusOr<std::string> ActorOf(const grpc::CallbackServerContext& context) const;

  // Answers with the status that `work` returns. REQUIRES: `work` only reads and never blocks,
  // since it runs on a thread that also receives other calls and agents' messages.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   const google::protobuf::Message& request,
                                   const std::function<absl::Status()>& work) const;

  // Answers with the status that `work` returns. `work` may block until its changes are stored.
  grpc::ServerUnaryReactor* AnswerOnceStored(grpc::CallbackServerContext* context,
                                             const google::protobuf::Message& request,
                                             std::function<absl::Status()> work) const;

  // Answers as AnswerOnceStored() does, even before Open() and after Close().
  grpc::ServerUnaryReactor* AnswerEvenIfClosed(grpc::CallbackServerContext* context,
                                               const google::protobuf::Message& request,
                                               std::function<absl::Status()> work) const;

  // Runs `search` on a search thread, and then calls `done` once. `done` gets what `search`
  // returned, or why `search` never began. The search is cancelled if the client is gone, if the
  // call's deadline has passed, if LimitOptions::max_search has passed, or if the server stops.
  // REQUIRES: `search` ends soon after its SearchRun says that it is cancelled.
  using SearchCall = std::function<absl::Status(const planner::SearchRun&)>;
  void Search(grpc::CallbackServerContext* context, const google::protobuf::Message& request,
              SearchCall search, std::function<void(const absl::Status&)> done) const;

  // Runs `search` as Search() does, and answers with its status. The call holds one slot for a
  // pending call and one for a search. There are fewer slots for searches than for calls, and Ask
  // streams take slots for searches too.
  grpc::ServerUnaryReactor* AnswerWithSearch(grpc::CallbackServerContext* context,
                                             const google::protobuf::Message& request,
                                             SearchCall search) const;

 private:
  // A unary call between its admission and its answer.
  struct Pending {
    std::string caller;
    std::shared_ptr<ConcurrencyLimit::Slot> slot;  // shared, since std::function copies its target
  };
  absl::StatusOr<Pending> Enter(const grpc::CallbackServerContext& context,
                                const google::protobuf::Message& request) const;
  absl::StatusOr<Pending> EnterAdmitted(const grpc::CallbackServerContext& context) const;
  // Runs `work` on a thread that may block, and answers with its status.
  grpc::ServerUnaryReactor* AnswerBlocking(grpc::CallbackServerContext* context,
                                           absl::StatusOr<Pending> pending,
                                           std::function<absl::Status()> work) const;
  // Does what Search() does, for a request that is already admitted.
  void SubmitSearch(grpc::CallbackServerContext* context, const std::string& caller,
                    SearchCall search, std::function<void(const absl::Status&)> done) const;
  absl::StatusOr<StreamLease> Lease(const grpc::CallbackServerContext& context,
                                    ConcurrencyLimit& limit) const;
  // Runs `search` for at most LimitOptions::max_search.
  absl::Status RunBounded(const SearchCall& search, int32_t threads,
                          const planner::Cancelled& cancelled) const;

  SearchPool* const searches_;
  BlockingCallPool* const blocking_calls_;
  const std::atomic<bool>* const stopping_;
  const Access* const access_;
  Limits* const limits_;
  ConnectionGuard* const guard_;
  std::atomic<bool> open_{false};
  mutable absl::Mutex mutex_;
  absl::Status why_closed_ ABSL_GUARDED_BY(mutex_);  // OK until Close()
};

}  // namespace meshwright::server
