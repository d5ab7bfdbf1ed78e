// What every call goes through before a service looks at it, once its port has let the caller in,
// and how it is answered.
//
// Callers may rely on: no service is entered before Open(), so that what it works with may be made
// after the port is bound; what it is entered with is within the limits of the wire. A unary call
// has a place among the pending calls (server/calls/limits.h) from when it is let in until just
// before it is answered, whatever it waits for in between.
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
  // All outlive it. `stopping` turns true when the server stops.
  CallDispatcher(SearchPool* searches, BlockingCallPool* waits, const std::atomic<bool>* stopping,
                 const Access* access, Limits* limits)
      : searches_(searches), waits_(waits), stopping_(stopping), access_(access), limits_(limits) {}

  // Lets calls in.
  void Open() { open_.store(true); }

  // Unavailable before Open(); InvalidArgument for a field that is too long.
  absl::Status Admit(const google::protobuf::Message& request) const;

  // For a call that stays open as an agent's or a watcher's stream; CallDispatcher outlive it.
  // ResourceExhausted where there are as many as may be.
  absl::StatusOr<StreamLease> LeaseAgentStream(const grpc::CallbackServerContext& context) const {
    return Permit(context, limits_->agents());
  }
  absl::StatusOr<StreamLease> LeaseWatcherStream(const grpc::CallbackServerContext& context) const {
    return Permit(context, limits_->watchers());
  }

  // As events name the caller; empty where callers are not asked who they are. The port has checked
  // that they may call (server/calls/access.h).
  absl::StatusOr<std::string> ActorOf(const grpc::CallbackServerContext& context) const;

  // Answers with what `work` returns, which is to read and to wait for nothing: it runs on the
  // thread on which other calls and agents' messages come in.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   const google::protobuf::Message& request,
                                   const std::function<absl::Status()>& work) const;

  // Answers with what `work` returns, which may wait until what it changes is stored.
  grpc::ServerUnaryReactor* AnswerOnceStored(grpc::CallbackServerContext* context,
                                             const google::protobuf::Message& request,
                                             std::function<absl::Status()> work) const;

  // Runs `search` on a thread for searches and then, once, `done` with what it returned, or with
  // why it never began. `search` is to end soon once the run that it is given says that the client
  // is gone, its deadline has passed, it took as long as a search may, or the server stops.
  using SearchCall = std::function<absl::Status(const planner::SearchRun&)>;
  void Search(grpc::CallbackServerContext* context, const google::protobuf::Message& request,
              SearchCall search, std::function<void(const absl::Status&)> done) const;

  // Answers with what such a search returns. The call has a place among the pending calls and one
  // among the searches: that is scarcer, and counts streams too.
  grpc::ServerUnaryReactor* AnswerWithSearch(grpc::CallbackServerContext* context,
                                             const google::protobuf::Message& request,
                                             SearchCall search) const;

 private:
  // A unary call that was let in, until it is answered.
  struct Pending {
    std::string caller;
    std::shared_ptr<ConcurrencyLimit::Slot> place;  // shared: std::function copies
  };
  absl::StatusOr<Pending> Enter(const grpc::CallbackServerContext& context,
                                const google::protobuf::Message& request) const;
  // As Search(), for a request that was admitted.
  void SubmitSearch(grpc::CallbackServerContext* context, const std::string& caller,
                    SearchCall search, std::function<void(const absl::Status&)> done) const;
  absl::StatusOr<StreamLease> Permit(const grpc::CallbackServerContext& context,
                                     ConcurrencyLimit& places) const;
  // Runs it for as long as a search may take.
  absl::Status RunBounded(const SearchCall& search, int32_t threads,
                          const planner::Cancelled& cancelled) const;

  SearchPool* const searches_;
  BlockingCallPool* const waits_;
  const std::atomic<bool>* const stopping_;
  const Access* const access_;
  Limits* const limits_;
  std::atomic<bool> open_{false};
};

}  // namespace meshwright::server
