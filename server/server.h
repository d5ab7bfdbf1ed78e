// Server owns the store, the engine, the services and the port they listen on.
//
// Callers may rely on: the port is bound before the store is opened, so that at most one server
// migrates a file; until the store is open calls end with UNAVAILABLE and the health service says
// NOT_SERVING. Searches, and calls that wait until their changes are stored, run on threads of
// their own. Stop() says NOT_SERVING first, ends every call within 2 s, and closes the store
// consistent, with every decision stored if it can be written. No port that other machines reach is
// opened without TLS, and with TLS every caller authenticates (server/calls/access.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "db/token_store.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "server/calls/access.h"
#include "server/calls/blocking_call_pool.h"
#include "server/calls/call_checker.h"
#include "server/calls/call_dispatcher.h"
#include "server/calls/limits.h"
#include "server/calls/search_pool.h"
#include "server/services/agents_service.h"
#include "server/services/metrics.h"
#include "server/services/planner_service.h"
#include "server/services/sweeps_service.h"
#include "server/sweeps/event_hub.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {

// Texts in PEM.
struct ServerTls {
  std::string certificate;  // of the server, followed by its issuers'
  std::string key;
  std::string client_ca;  // CA that signs clients' certificates; empty: none are requested
};

using TokenOpener = std::function<absl::StatusOr<std::unique_ptr<db::TokenStore>>()>;

struct ServerOptions {
  std::string listen = "127.0.0.1:7077";  // HOST:PORT; port 0 picks a free one
  std::optional<ServerTls> tls;           // none: plain text, on loopback only
  // Opens the tokens of the store's database. Needed with TLS; called once the store is open.
  TokenOpener open_tokens;
  int32_t host_cores = 1;  // physical cores, for clusters of processes on them
  std::string version;
  Clock clock;
  MonotonicClock monotonic_clock = MonotonicNow;
  EngineOptions engine;
  // A connection that was silent for this long is probed, and closed if no answer comes within the
  // same time again.
  absl::Duration keepalive = absl::Seconds(10);
  LogFunction log;             // may be empty
  Metrics* metrics = nullptr;  // outlives the server; null: nothing is counted
  // Two, so that a short search need not wait for a long one.
  int32_t searches_at_once = 2;
  int32_t search_cores = 1;  // shared by the searches
  int32_t most_waiting_searches = 32;
  Recommender recommend = planner::AnswerRecommend;
  LimitOptions limits;
};

using StoreOpener = std::function<absl::StatusOr<std::unique_ptr<db::SweepStore>>()>;

// OK when `listen` is HOST:PORT and, without TLS, HOST is this machine only. InvalidArgument says
// what is wrong.
absl::Status CheckListenAddress(const std::string& listen, bool has_tls);

class Server {
 public:
  // InvalidArgument for an address that can't be used; Unavailable when the port is taken, in which
  // case the store was not touched. Otherwise the error of `open`.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const StoreOpener& open,
                                                       ServerOptions options);
  // Starts with a store that is open already.
  static absl::StatusOr<std::unique_ptr<Server>> Start(std::unique_ptr<db::SweepStore> store,
                                                       ServerOptions options);
  ~Server();

  // HOST:PORT with the real port.
  const std::string& address() const { return address_; }
  // For code in this process that starts and ends agents.
  SweepEngine& engine() { return *engine_; }
  void Stop();

 private:
  explicit Server(ServerOptions options);
  std::shared_ptr<grpc::ServerCredentials> Credentials();
  absl::Status Listen();
  // Uses this store from now on, and lets calls in.
  absl::Status Begin(std::unique_ptr<db::SweepStore> store);
  // Logs a warning where TLS requires credentials that nobody has.
  absl::Status WarnWhereNobodyCanCall();
  // Sets the status of the standard health service.
  void SayServing(bool serving);
  void RunTimer();

  const ServerOptions options_;
  std::atomic<bool> stopping_{false};
  Limits limits_;
  SearchPool searches_;
  BlockingCallPool blocking_calls_;
  Access access_;
  std::shared_ptr<CallChecker> checker_;  // set by Listen(), with TLS
  CallDispatcher dispatcher_;
  EventHub hub_;
  std::unique_ptr<db::TokenStore> tokens_;  // set by Begin(), with TLS
  std::unique_ptr<db::SweepStore> store_;   // set by Begin()
  std::unique_ptr<SweepEngine> engine_;     // set by Begin()
  PlannerService planner_service_;
  SweepsService sweeps_service_;
  AgentsService agents_service_;
  std::string address_;
  std::unique_ptr<grpc::Server> grpc_;
  // A std:: mutex, since timed waits on absl:: ones end by the wall clock: setting it back would
  // hold up leases.
  std::mutex timer_mutex_;
  std::condition_variable timer_wakes_;
  std::thread timer_;  // wakes the engine so that leases end in time
};

}  // namespace meshwright::server
