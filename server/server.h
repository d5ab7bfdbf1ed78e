// Server owns the store, the engine, the services and the port they listen on.
//
// Callers may rely on:
// - The port is bound before the store is opened. A server whose port is taken never touches the
//   database file.
// - Until the store is open, calls end with UNAVAILABLE and the health service says NOT_SERVING.
// - Searches run on threads of their own, and so do calls that wait until their changes are stored.
// - A standby follows another server's store and decides nothing (ServerOptions::standby). Calls
//   then end with UNAVAILABLE, which names the first server, and the health service says
//   NOT_SERVING, until TakeOver().
// - A server that learns of a later epoch of its store decides nothing from then on (ended()).
// - Stop() first makes the health service say NOT_SERVING, ends every call within 2 s, and leaves
//   the store consistent. If the store can be written, every decision is stored. If gRPC has not
//   ended a call after 10 s, Stop() logs the call's method and ends the process.
// - A port that other machines can reach uses TLS. With TLS, every caller authenticates
//   (server/calls/access.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "db/standby_copy.h"
#include "db/token_store.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "proto/server_access.h"
#include "server/calls/access.h"
#include "server/calls/blocking_call_pool.h"
#include "server/calls/call_checker.h"
#include "server/calls/call_dispatcher.h"
#include "server/calls/connection_guard.h"
#include "server/calls/connection_listener.h"
#include "server/calls/limits.h"
#include "server/calls/open_calls.h"
#include "server/calls/search_pool.h"
#include "server/gateway/gateway.h"
#include "server/http/http_server.h"
#include "server/http/server_tls.h"
#include "server/services/agents_service.h"
#include "server/services/metrics.h"
#include "server/services/planner_service.h"
#include "server/services/standby_service.h"
#include "server/services/sweeps_service.h"
#include "server/standby/authority.h"
#include "server/standby/change_log.h"
#include "server/standby/follower.h"
#include "server/standby/herald.h"
#include "server/standby/missing_results.h"
#include "server/standby/standing.h"
#include "server/sweeps/event_hub.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {

using TokenOpener = std::function<absl::StatusOr<std::unique_ptr<db::TokenStore>>()>;

// The page and calls over HTTP/1.1 (server/gateway). They use TLS if the server does.
struct HttpOptions {
  std::string listen = {};  // HOST:PORT, as ServerOptions::listen
  // Host names by which browsers reach the server, besides its addresses and localhost.
  std::vector<std::string> names = {};
  std::string key = {};                              // as GatewayOptions::key
  absl::Duration stream_interval = kStreamInterval;  // server/gateway/json_calls.h
};

// How a standby follows a first server.
struct StandbyOptions {
  std::vector<ServerAccess> servers;  // tried in turn; at least one
  std::string name;                   // of this standby, for people
  // Opens the copy; called once the port is bound. The store of StoreOpener is the same file.
  std::function<absl::StatusOr<std::unique_ptr<db::StandbyCopy>>()> open_copy;
};

struct ServerOptions {
  // HOST:PORT; port 0 picks a free one. If empty, the server takes calls over HTTP/1.1 only, and
  // agents can't connect.
  std::string listen = "127.0.0.1:7077";
  std::optional<HttpOptions> http;        // nullopt: no page
  std::optional<ServerTls> tls;           // without it, plain text on loopback only
  std::optional<StandbyOptions> standby;  // nullopt: the server decides from its start
  // The longest time for which what was stored waits, before anybody hears of it, until the
  // standbys have it too; 0: they are not waited for.
  absl::Duration standby_wait = absl::ZeroDuration();
  // Opens the tokens in the store's database. Required with TLS; called once the store is open.
  TokenOpener open_tokens;
  int32_t host_cores = 1;  // physical cores of this machine, for clusters of CPU processes
  std::string version;
  Clock clock;
  MonotonicClock monotonic_clock = MonotonicNow;
  EngineOptions engine;
  // A connection that was silent for this long is probed. It is closed if the probe is not answered
  // within the same time.
  absl::Duration keepalive = absl::Seconds(10);
  LogFunction log;             // may be empty
  Metrics* metrics = nullptr;  // must outlive the server; if null, nothing is counted
  // Searches that run simultaneously: two, so that a short search need not wait for a long one.
  int32_t searches_at_once = 2;
  int32_t search_cores = 1;  // cores that the running searches share
  int32_t most_waiting_searches = 32;
  Recommender recommend = planner::AnswerRecommend;
  LimitOptions limits;
  HeldLimits held;
  // Called by Stop() if gRPC does not end its calls in time. Must end the process and not return:
  // the calls' handlers still use the server's objects, which can therefore not be destroyed.
  std::function<void()> leave_calls = [] { std::_Exit(EXIT_FAILURE); };
};

using StoreOpener = std::function<absl::StatusOr<std::unique_ptr<db::SweepStore>>()>;

// Returns OK if `listen` is HOST:PORT and, without TLS, HOST is a loopback address. Otherwise
// returns InvalidArgument, which names `field` and says what is wrong.
absl::Status CheckListenAddress(const std::string& listen, bool has_tls,
                                std::string_view field = "listen");

class Server {
 public:
  // Binds the port, then opens the store with `open`, or for a standby its copy. A standby calls
  // `open` when it takes over. Returns InvalidArgument for an address or a
  // limit that can't be used, and Unavailable if the port is taken; the store is then untouched.
  // Returns the errors of `open` unchanged.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const StoreOpener& open,
                                                       ServerOptions options);
  // Starts with a store that is already open.
  static absl::StatusOr<std::unique_ptr<Server>> Start(std::unique_ptr<db::SweepStore> store,
                                                       ServerOptions options);
  ~Server();

  // Return HOST:PORT with the port that was bound; empty if the options name no address.
  const std::string& address() const { return address_; }
  const std::string& http_address() const { return http_address_; }
  // Returns the engine, for code in this process that starts and ends agents. REQUIRES: decides().
  SweepEngine& engine() { return *engine_; }
  // Returns whether the server decides about its store, so that it is no standby.
  bool decides() const { return decides_.load(); }
  // Makes a standby decide, with the next epoch of its store, for `actor`, which may be empty. The
  // servers that it followed are told. Returns FailedPrecondition if the server is no standby or
  // has no complete copy. Any other error makes ended() return it.
  absl::StatusOr<TakenOver> TakeOver(const std::string& actor);
  Standing GetStanding() const;
  // Returns an error once the server should be stopped because it can't do its work any more: a
  // standby took over, or this standby can't follow or take over.
  absl::Status ended() const;
  void Stop();

 private:
  explicit Server(ServerOptions options);
  std::shared_ptr<grpc::ServerCredentials> Credentials();
  absl::Status Listen();
  absl::Status ListenForHttp();
  absl::StatusOr<std::unique_ptr<ConnectionListener>> BindListener();
  // Sets when silent connections are probed, and how many streams and bytes a connection may have.
  void LimitConnections(grpc::ServerBuilder& builder) const;
  // Uses this store from now on, and admits calls.
  absl::Status Begin(std::unique_ptr<db::SweepStore> store);
  // Follows the first server from now on. `open` is called by TakeOver().
  absl::Status BeginStandby(StoreOpener open);
  // Does what TakeOver() does, once that is possible.
  absl::StatusOr<TakenOver> TakeOverNow(std::unique_ptr<Follower> follower);
  // Opens the tokens in a standby's copy, which its callers have.
  void OpenTokensOfCopy();
  // Decides nothing more, since `why`.
  void End(const absl::Status& why);
  // Logs a warning if TLS requires credentials and nobody has any.
  absl::Status WarnWhereNobodyCanCall();
  // Sets the status of the standard health service.
  void SayServing(bool serving);
  void StopFollowing();
  void StopGrpc();
  void RunTimer();

  const ServerOptions options_;
  std::atomic<bool> stopping_{false};
  Limits limits_;
  SearchPool searches_;
  BlockingCallPool blocking_calls_;
  Access access_;
  std::shared_ptr<CallChecker> checker_;  // set by Listen(), with TLS
  ConnectionGuard guard_;
  OpenCalls open_calls_;
  CallDispatcher dispatcher_;
  EventHub hub_;
  MissingResults missing_;
  // The tokens that access_ uses are the last; it may still use earlier ones. Set with TLS.
  std::vector<std::unique_ptr<db::TokenStore>> tokens_;
  std::unique_ptr<db::SweepStore> store_;  // set by Begin()
  std::unique_ptr<Authority> authority_;   // set by Begin()
  std::unique_ptr<ChangeLog> changes_;     // set by Begin()
  std::unique_ptr<SweepEngine> engine_;    // set by Begin()
  PlannerService planner_service_;
  SweepsService sweeps_service_;
  AgentsService agents_service_;
  StandbyService standby_service_;
  std::string address_;
  std::string http_address_;
  std::atomic<int32_t> health_watchers_{0};
  std::unique_ptr<ConnectionListener> listener_;  // hands connections to `acceptor_`
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<Gateway> gateway_;  // calls `grpc_`
  std::unique_ptr<HttpServer> http_;  // passes requests to `gateway_`
  // A std::mutex, since timed waits on an absl::Mutex follow the wall clock. Setting that clock
  // back would delay the expiry of leases.
  std::mutex timer_mutex_;
  std::condition_variable timer_wakes_;
  std::thread timer_;  // wakes the engine so that leases expire in time
  // Held while the server takes over and while it stops.
  absl::Mutex take_over_mutex_;
  StoreOpener open_store_ ABSL_GUARDED_BY(take_over_mutex_);  // of a standby
  std::atomic<bool> decides_{false};
  mutable absl::Mutex standing_mutex_;
  std::unique_ptr<Follower> follower_ ABSL_GUARDED_BY(standing_mutex_);  // of a standby
  absl::Status ended_ ABSL_GUARDED_BY(standing_mutex_);
  std::unique_ptr<Herald> herald_;  // of a standby that took over
};

}  // namespace meshwright::server
