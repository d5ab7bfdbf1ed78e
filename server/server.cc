#include "server/server.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/system/heap.h"
#include "base/system/host_port.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/wire/field_limits.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/support/channel_arguments.h"
#include "server/calls/call_status.h"
#include "server/calls/health_watch_limit.h"
#include "server/gateway/page_files.h"
#include "server/services/sweep_watch.h"

namespace meshwright::server {
namespace {

constexpr std::chrono::milliseconds kTick(250);
constexpr absl::Duration kHeapInterval = absl::Seconds(5);
// The programs' code and data are resident too, but not allocated.
constexpr int64_t kFreeHeapBytes = int64_t{128} << 20;
// The number of calls that wait for the store simultaneously. The store writes their changes
// together, within milliseconds, so more threads would gain nothing. While the store can't be
// written, later calls can wait.
constexpr int32_t kThreadsThatWait = 32;
constexpr std::chrono::seconds kStopDeadline(2);
constexpr absl::Duration kMostStopTime = absl::Seconds(10);
constexpr int kMinPingIntervalMs = 1000;  // agents probe an idle connection
// A peer that has not finished TLS and sent the first frame of HTTP/2 within this time is
// disconnected.
constexpr int kHandshakeTimeoutMs = 10'000;
// The resource quota of all connections together, messages that have not arrived whole included.
constexpr size_t kMostBytesInFlight = size_t{256} << 20;
constexpr int32_t kMostHealthWatchers = 256;
EventHub::Observer CountsEvents(Metrics* metrics) {
  if (metrics == nullptr) return {};
  return [metrics](const std::vector<db::EventRecord>& events) { metrics->CountEvents(events); };
}

std::function<void()> CountsConnections(Metrics* metrics) {
  return [metrics] {
    if (metrics != nullptr) metrics->CountRefusal("connections");
  };
}

RefusalSink CountsAndLogs(const ServerOptions& options) {
  return [metrics = options.metrics, log = options.log](
             std::string_view limit, const std::string& caller, const absl::Status& refusal) {
    if (metrics != nullptr) metrics->CountRefusal(std::string(limit));
    // Logged at debug level only: a caller that calls too often would fill the log as well.
    if (log) {
      log({.level = LogLevel::kDebug,
           .message = absl::StrCat("refused a call: ", refusal.message()),
           .about = {.caller = caller, .code = absl::StatusCodeToString(refusal.code())}});
    }
  };
}

}  // namespace

absl::Status CheckListenAddress(const std::string& listen, bool has_tls, std::string_view field) {
  const absl::StatusOr<HostPort> address = ParseHostPort(listen);
  if (!address.ok()) return FieldError(field, listen, std::string(address.status().message()));
  if (has_tls || IsLoopback(*address)) return absl::OkStatus();
  return FieldError(
      field, listen,
      "is reachable from other machines, which requires TLS: give --tls-cert and --tls-key, and "
      "give each caller a token (`meshwright token create`) or a certificate of --tls-client-ca; "
      "without TLS, listen on 127.0.0.1, [::1] or localhost");
}

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      limits_(options_.limits, options_.monotonic_clock, CountsAndLogs(options_)),
      searches_(options_.searches_at_once, options_.most_waiting_searches, options_.search_cores),
      blocking_calls_(kThreadsThatWait),
      access_(options_.tls.has_value(), options_.clock, options_.log),
      guard_({.limits = options_.held,
              .clock = options_.monotonic_clock,
              .log = options_.log,
              .refused = CountsConnections(options_.metrics)}),
      dispatcher_(&searches_, &blocking_calls_, &stopping_, &access_, &limits_, &guard_),
      hub_(CountsEvents(options_.metrics)),
      planner_service_(&dispatcher_, options_.host_cores, options_.recommend,
                       options_.monotonic_clock, options_.clock),
      sweeps_service_(&dispatcher_),
      agents_service_(&dispatcher_),
      standby_service_(&dispatcher_,
                       {.take_over = [this](const std::string& actor) { return TakeOver(actor); },
                        .standing = [this] { return GetStanding(); },
                        .version = options_.version,
                        .clock = options_.clock}) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const StoreOpener& open,
                                                      ServerOptions options) {
  if (!options.listen.empty()) {
    RETURN_IF_ERROR(CheckListenAddress(options.listen, options.tls.has_value()));
  }
  if (options.http) {
    RETURN_IF_ERROR(CheckListenAddress(options.http->listen, options.tls.has_value(), "http"));
  }
  RETURN_IF_ERROR(CheckLimitOptions(options.limits));
  std::unique_ptr<Server> server = absl::WrapUnique(new Server(std::move(options)));
  RETURN_IF_ERROR(server->Listen());
  if (server->options_.standby) {
    RETURN_IF_ERROR(server->BeginStandby(open));
    return server;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<db::SweepStore> store, open());
  RETURN_IF_ERROR(server->Begin(std::move(store)));
  return server;
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(std::unique_ptr<db::SweepStore> store,
                                                      ServerOptions options) {
  // Shared, since std::function copies its target.
  auto opened = std::make_shared<std::unique_ptr<db::SweepStore>>(std::move(store));
  return Start([opened] { return std::move(*opened); }, std::move(options));
}

std::shared_ptr<grpc::ServerCredentials> Server::Credentials() {
  if (!options_.tls) return grpc::InsecureServerCredentials();
  const ServerTls& tls = *options_.tls;
  // A client may present a token in place of a certificate; a certificate that it presents has to
  // be signed by the client CA.
  grpc::SslServerCredentialsOptions options(tls.client_ca.empty()
                                                ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls.client_ca;
  options.pem_key_cert_pairs.push_back({.private_key = tls.key, .cert_chain = tls.certificate});
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::SslServerCredentials(options);
  checker_ = std::make_shared<CallChecker>(&access_, &limits_.rates());
  credentials->SetAuthMetadataProcessor(checker_);
  return credentials;
}

absl::StatusOr<std::unique_ptr<ConnectionListener>> Server::BindListener() {
  ASSIGN_OR_RETURN(const HostPort listen, ParseHostPort(options_.listen));
  absl::StatusOr<std::unique_ptr<ConnectionListener>> listener = ConnectionListener::Bind(
      listen, {.max_descriptor = HighestConnectionDescriptor(options_.limits.max_connections),
               .clock = options_.monotonic_clock,
               .log = options_.log,
               .refused = CountsConnections(options_.metrics)});
  if (listener.ok()) return listener;
  return absl::UnavailableError(absl::StrCat(
      "can't listen on ", options_.listen, " (", std::string(listener.status().message()),
      "): the port is in use or the address is not one of this machine; choose another, port 0 "
      "picks a free one"));
}

void Server::LimitConnections(grpc::ServerBuilder& builder) const {
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
  // The server itself probes for half-open connections and stalled peers too.
  const auto probe_ms = static_cast<int>(absl::ToInt64Milliseconds(options_.keepalive));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, probe_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, probe_ms);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits_.MaxStreamsOfAConnection());
  builder.SetMaxReceiveMessageSize(wire::kMaxMessageBytes);
  grpc::ResourceQuota quota("server");
  quota.Resize(kMostBytesInFlight);
  builder.SetResourceQuota(quota);
}

absl::Status Server::Listen() {
  if (!options_.listen.empty()) {
    ASSIGN_OR_RETURN(listener_, BindListener());
  }
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  if (listener_ != nullptr) {
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, Credentials());
  }
  LimitConnections(builder);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> factories;
  if (options_.metrics != nullptr) factories.push_back(options_.metrics->Interceptors());
  factories.push_back(std::make_unique<HealthWatchLimit>(kMostHealthWatchers, &health_watchers_));
  factories.push_back(guard_.Interceptors());
  factories.push_back(open_calls_.Interceptors());
  builder.experimental().SetInterceptorCreators(std::move(factories));
  builder.RegisterService(&planner_service_);
  builder.RegisterService(&sweeps_service_);
  builder.RegisterService(&agents_service_);
  builder.RegisterService(&standby_service_);
  grpc_ = builder.BuildAndStart();
  if (grpc_ == nullptr) return absl::InternalError("gRPC could not start a server");
  SayServing(false);
  if (options_.http) RETURN_IF_ERROR(ListenForHttp());
  guard_.Begin();
  if (listener_ == nullptr) return absl::OkStatus();
  listener_->Begin([this, acceptor = acceptor_.get()](UniqueFd connection, int listening) {
    if (!guard_.Add(connection.get()).ok()) return;  // which closes it
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.listener_fd = listening;
    parameters.fd = connection.Release();
    acceptor->HandleNewConnection(&parameters);
  });
  address_ =
      absl::StrCat(options_.listen.substr(0, options_.listen.rfind(':')), ":", listener_->port());
  return absl::OkStatus();
}

absl::Status Server::ListenForHttp() {
  ASSIGN_OR_RETURN(const HostPort listen, ParseHostPort(options_.http->listen));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(wire::kMaxMessageBytes);
  gateway_ =
      std::make_unique<Gateway>(GatewayOptions{.names = options_.http->names,
                                               .key = options_.http->key,
                                               .files = PageFiles(),
                                               .metrics = options_.metrics,
                                               .clock = options_.clock,
                                               .monotonic_clock = options_.monotonic_clock,
                                               .stream_interval = options_.http->stream_interval},
                                grpc_->InProcessChannel(arguments), &access_, &limits_);
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Start(listen, gateway_->Service(), gateway_->ConnectionLimits(), options_.tls);
  if (!server.ok()) {
    return absl::Status(server.status().code(),
                        absl::StrCat("can't listen on ", options_.http->listen, " for HTTP (",
                                     std::string(server.status().message()),
                                     "): choose another address; port 0 picks a free one"));
  }
  http_ = *std::move(server);
  http_address_ = ToText(http_->address());
  return absl::OkStatus();
}

absl::Status Server::Begin(std::unique_ptr<db::SweepStore> store) {
  ASSIGN_OR_RETURN(std::string store_id, store->StoreId());
  ASSIGN_OR_RETURN(const int64_t epoch, store->Epoch());
  {
    absl::MutexLock lock(&standing_mutex_);
    store_ = std::move(store);
    authority_ = std::make_unique<Authority>(db::StoreIdentity{std::move(store_id), epoch},
                                             [this](const absl::Status& status) { End(status); });
    changes_ = std::make_unique<ChangeLog>(
        store_->changes(),
        ChangeLogOptions{.clock = options_.monotonic_clock, .log = options_.log});
  }
  if (options_.tls) {
    ASSIGN_OR_RETURN(tokens_.emplace_back(), options_.open_tokens());
    access_.Begin(tokens_.back().get());
    RETURN_IF_ERROR(WarnWhereNobodyCanCall());
  }
  EngineOptions engine_options = options_.engine;
  engine_options.first_attempt = FirstAttemptOf(epoch);
  std::function<void()> durable;
  if (options_.standby_wait > absl::ZeroDuration()) {
    durable = [this] { changes_->AwaitStandbys(options_.standby_wait); };
  }
  ASSIGN_OR_RETURN(engine_,
                   SweepEngine::Start(store_.get(), &hub_, options_.clock, options_.monotonic_clock,
                                      engine_options, options_.log, std::move(durable)));
  sweeps_service_.Begin({.store = store_.get(),
                         .engine = engine_.get(),
                         .hub = &hub_,
                         .stopping = &stopping_,
                         .clock = options_.clock,
                         .monotonic_clock = options_.monotonic_clock,
                         .heartbeat = options_.engine.heartbeat,
                         .host_cores = options_.host_cores,
                         .version = options_.version});
  agents_service_.Begin({.engine = engine_.get(),
                         .authority = authority_.get(),
                         .changes = changes_.get(),
                         .missing = &missing_},
                        options_.version, options_.clock);
  standby_service_.Begin({.changes = changes_.get(),
                          .authority = authority_.get(),
                          .clock = options_.monotonic_clock,
                          .log = options_.log});
  if (options_.metrics != nullptr) {
    options_.metrics->SetFigures([engine = engine_.get()] { return engine->Figures(); });
    options_.metrics->SetStanding([this] { return GetStanding(); });
  }
  timer_ = std::thread([this] { RunTimer(); });
  dispatcher_.Open();
  decides_.store(true);
  SayServing(true);
  return absl::OkStatus();
}

absl::Status Server::WarnWhereNobodyCanCall() {
  if (!options_.tls->client_ca.empty() || !options_.log) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<db::TokenRecord> tokens, tokens_.back()->List());
  const auto counts = [now = options_.clock()](const db::TokenRecord& token) {
    return db::CheckCounts(token, now).ok();
  };
  if (std::any_of(tokens.begin(), tokens.end(), counts)) return absl::OkStatus();
  options_.log({.level = LogLevel::kWarning,
                .message = "nobody can call this server yet: its database has no valid token, and "
                           "without --tls-client-ca it takes no certificates; make a token with "
                           "`meshwright token create`, which works while the server runs"});
  return absl::OkStatus();
}

void Server::SayServing(bool serving) {
  grpc::HealthCheckServiceInterface* const health = grpc_->GetHealthCheckService();
  // For the server as a whole, and for each service by name.
  health->SetServingStatus(serving);
  for (const char* const service :
       {v1::Planner::service_full_name(), v1::Sweeps::service_full_name(),
        v1::Agents::service_full_name(), v1::Standby::service_full_name()}) {
    health->SetServingStatus(service, serving);
  }
}

void Server::RunTimer() {
  const auto stopping = [this] { return stopping_.load(); };
  MonotonicTime next_check = MonotonicTime::Always();
  MonotonicTime next_heap = MonotonicTime::Always();
  std::unique_lock lock(timer_mutex_);
  while (!timer_wakes_.wait_for(lock, kTick, stopping)) {
    // A server that lost its right to decide lets no lease expire.
    if (authority_->Check().ok()) engine_->Tick();
    changes_->LookForOthers();
    const MonotonicTime now = options_.monotonic_clock();
    if (now >= next_heap) {
      next_heap = now + kHeapInterval;
      ReturnFreePages(kFreeHeapBytes);
    }
    // Without events nothing else would notice that a watcher's token no longer counts.
    if (!access_.asks() || now < next_check) continue;
    next_check = now + kCheckShare * options_.engine.heartbeat;
    hub_.NotifyAll();
  }
}

// grpc::Server::Shutdown() ends calls at its deadline, but then waits for them without one.
void Server::StopGrpc() {
  absl::Notification stopped;
  std::thread shutdown([this, &stopped] {
    // Waits for its calls, before the in-process channel loses its server: a call that begins on
    // such a channel crashes.
    gateway_.reset();
    grpc_->Shutdown(std::chrono::system_clock::now() + kStopDeadline);
    stopped.Notify();
  });
  if (!stopped.WaitForNotificationWithTimeout(kMostStopTime)) {
    if (options_.log) {
      options_.log({.level = LogLevel::kError,
                    .message = absl::StrCat("ends without ", open_calls_.ToText(),
                                            ", which gRPC has not ended within ",
                                            absl::FormatDuration(kMostStopTime))});
    }
    options_.leave_calls();
  }
  shutdown.join();
  grpc_->Wait();
}

void Server::Stop() {
  if (stopping_.exchange(true)) return;
  // A takeover that goes on is over first, and no other one begins.
  { absl::MutexLock lock(&take_over_mutex_); }
  // Load balancers hear of it before calls fail.
  if (grpc_ != nullptr) SayServing(false);
  if (options_.metrics != nullptr) {
    options_.metrics->SetFigures({});
    options_.metrics->SetStanding({});
  }
  StopFollowing();
  if (changes_ != nullptr) changes_->Stop();
  hub_.NotifyAll();
  if (engine_ != nullptr) engine_->CloseAgents(ServerStops());
  searches_.Stop();
  blocking_calls_.Stop();
  guard_.Stop();
  if (listener_ != nullptr) listener_->Stop();
  http_.reset();
  if (grpc_ != nullptr) StopGrpc();
  // gRPC does not yet wait for a call that is still being checked.
  if (checker_ != nullptr) checker_->Close();
  if (timer_.joinable()) {
    // The timer either sees, under the lock, that the server stops, or waits to be woken.
    { const std::lock_guard lock(timer_mutex_); }
    timer_wakes_.notify_all();
    timer_.join();
  }
}

Server::~Server() { Stop(); }

}  // namespace meshwright::server
