// CallDispatcher admits every call that its port let in before a service handles it, and sends the
// answer.
//
// Callers may rely on: no service is entered before Open(), so that its dependencies may be made
// after the port is bound; every request that a service gets is within the limits of the wire. A
// unary call holds a slot among the pending calls (server/calls/limits.h) from its admission until
// just before it is answered, whatever it waits for in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "planner/search/search.h"
#include "server/calls/access.h"
#include "server/calls/blocking_call_pool.h"
#include "server/calls/concurrency_limit.h"
#include "server/calls/limits.h"
#include "server/calls/search_pool.h"
#include "server/calls/stream_lease.h"

namespace meshwright::server {

class CallDispatcher {
 public:
  // All outlive this. `stopping` turns true when the server stops.
  CallDispatcher(SearchPool* searches, BlockingCallPool* blocking_calls,
                 const std::atomic<bool>* stopping, const Access* access, Limits* limits)
      : searches_(searches),
        blocking_calls_(blocking_calls),
        stopping_(stopping),
        access_(access),
        limits_(limits) {}

  // Starts to admit calls.
  void Open() { open_.store(true); }

  // Unavailable before Open(); InvalidArgument for a field that is too long.
  absl::Status Admit(const google::protobuf::Message& request) const;

  // Leases a slot for a call that stays open as an agent's or a watcher's stream. The dispatcher
  // outlives the lease. ResourceExhausted where the limit is reached.
  absl::StatusOr<StreamLease> LeaseAgentStream(const grpc::CallbackServerContext& context) const {
    return Lease(context, limits_->agents());
  }
  absl::StatusOr<StreamLease> LeaseWatcherStream(const grpc::CallbackServerContext& context) const {
    return Lease(context, limits_->watchers());
  }

  // Returns the caller as events name it; empty where callers need not authenticate. The port has
  // already checked that they may call (server/calls/access.h).
  absl::StatusOr<std::string> ActorOf(const grpc::CallbackServerContext& context) const;

  // Answers with what `work` returns. `work` must only read and never block: it runs on the thread
  // that receives other calls and agents' messages.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   const google::protobuf::Message& request,
                                   const std::function<absl::Status()>& work) const;

  // Answers with what `work` returns; `work` may block until its changes are stored.
  grpc::ServerUnaryReactor* AnswerOnceStored(grpc::CallbackServerContext* context,
                                             const google::protobuf::Message& request,
                                             std::function<absl::Status()> work) const;

  // Runs `search` on a search thread and then calls `done` once, with what it returned or with why
  // it never began. `search` has to end soon after its SearchRun says that it is cancelled: the
  // client is gone, the deadline has passed, the longest time of a search is over, or the server
  // stops.
  using SearchCall = std::function<absl::Status(const planner::SearchRun&)>;
  void Search(grpc::CallbackServerContext* context, const google::protobuf::Message& request,
              SearchCall search, std::function<void(const absl::Status&)> done) const;

  // Answers with what such a search returns. The call holds a slot among the pending calls and one
  // among the searches, which are scarcer and which streams use too.
  grpc::ServerUnaryReactor* AnswerWithSearch(grpc::CallbackServerContext* context,
                                             const google::protobuf::Message& request,
                                             SearchCall search) const;

 private:
  // A unary call between its admission and its answer.
  struct Pending {
    std::string caller;
    std::shared_ptr<ConcurrencyLimit::Slot> slot;  // shared, since std::function copies
  };
  absl::StatusOr<Pending> Enter(const grpc::CallbackServerContext& context,
                                const google::protobuf::Message& request) const;
  // As Search(), for a request that was admitted.
  void SubmitSearch(grpc::CallbackServerContext* context, const std::string& caller,
                    SearchCall search, std::function<void(const absl::Status&)> done) const;
  absl::StatusOr<StreamLease> Lease(const grpc::CallbackServerContext& context,
                                    ConcurrencyLimit& limit) const;
  // Runs `search` for at most the longest time of a search.
  absl::Status RunBounded(const SearchCall& search, int32_t threads,
                          const planner::Cancelled& cancelled) const;

  SearchPool* const searches_;
  BlockingCallPool* const blocking_calls_;
  const std::atomic<bool>* const stopping_;
  const Access* const access_;
  Limits* const limits_;
  std::atomic<bool> open_{false};
};

}  // namespace meshwright::server
