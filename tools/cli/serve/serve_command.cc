#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/system/log.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "db/damage_search.h"
#include "db/database.h"
#include "db/sqlite_store.h"
#include "db/standby_copy.h"
#include "db/store_lock.h"
#include "db/token_store.h"
#include "executor/host/host.h"
#include "server/calls/limits.h"
#include "server/server.h"
#include "server/services/metrics.h"
#include "server/services/metrics_page.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/server_flags.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/common/tls_files.h"
#include "tools/cli/io/input_error.h"
#include "tools/cli/io/log_sink.h"
#include "tools/cli/serve/prepare_server.h"
#include "tools/cli/serve/scaling_flags.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(50);
constexpr double kMostStandbyWaitS = 10.0;  // callers wait this long for the store too

struct ServeFlags {
  std::string db;
  ServerFlags standby_of;
  double standby_wait_s = 0.0;
  std::string listen = kDefaultServer;
  std::string certificate_file;
  std::string key_file;
  std::string client_ca_file;
  std::string metrics_listen;
  std::string http;
  std::vector<std::string> http_names;
  double lease_s = 30.0;
  int32_t max_agent_failures = server::EngineOptions().max_agent_failures;
  int32_t keep_events_days = 90;
  LogFlags log;
  server::LimitOptions limits;
  double max_search_s = absl::ToDoubleSeconds(server::LimitOptions().max_search);
  ScalingFlags scaling;
};

absl::StatusOr<std::optional<server::ServerTls>> ReadTls(const ServeFlags& flags) {
  if (flags.certificate_file.empty() && flags.key_file.empty()) {
    if (flags.client_ca_file.empty()) return std::nullopt;
    return FieldError("tls_client_ca", flags.client_ca_file, "needs --tls-cert and --tls-key");
  }
  server::ServerTls tls;
  ASSIGN_OR_RETURN(TlsIdentity identity, ReadIdentity(flags.certificate_file, flags.key_file));
  tls.certificate = std::move(identity.certificate);
  tls.key = std::move(identity.key);
  if (!flags.client_ca_file.empty()) {
    ASSIGN_OR_RETURN(tls.client_ca, ReadCertificates("tls_client_ca", flags.client_ca_file));
  }
  return tls;
}

// What a running server has besides its own objects.
struct Running {
  db::StoreLock lock;  // outlives the server, and with it the store
  std::unique_ptr<db::DamageSearch> search;
  std::string store_id;
};

// Waits until a stop is requested; removes a damage search that has ended. Calls `decides` once the
// server decides about its store. Returns DataLoss if the search found damage, FailedPrecondition
// if the database is no longer where it was, and the server's own reason to end.
absl::Status WaitForStop(const StopRequest& stop, Running& running, const server::Server& server,
                         std::function<absl::Status()> decides, const LogFunction& log) {
  std::unique_ptr<db::DamageSearch>& search = running.search;
  for (; !stop.Requested(); absl::SleepFor(kPoll)) {
    RETURN_IF_ERROR(running.lock.CheckInPlace());
    RETURN_IF_ERROR(server.ended());
    if (!server.decides()) continue;
    if (decides) RETURN_IF_ERROR(std::exchange(decides, {})());
    if (search == nullptr || !search->ended()) continue;
    absl::Status found = search->found();
    if (absl::IsDataLoss(found)) return found;
    if (found.ok()) {
      log({.message = "the database was looked over and is whole"});
    } else {
      log({.level = LogLevel::kWarning,
           .message = absl::StrCat("could not look the database over: ", found.message())});
    }
    search.reset();
  }
  return absl::OkStatus();
}

// Starts the scaler for the server; null without a launcher.
absl::StatusOr<std::unique_ptr<FleetScaler>> StartScaler(const ServeFlags& flags,
                                                         std::optional<FleetScaling> scaling,
                                                         const std::string& store_id,
                                                         server::Server& server,
                                                         const LogFunction& log) {
  if (!scaling) return nullptr;
  scaling->launch.fleet.server = flags.scaling.ServerAt(server.address());
  // The jobs belong to this database, whichever process serves it.
  if (scaling->launch.owner.empty()) {
    scaling->launch.owner = absl::StrCat("meshwright-", store_id);
  }
  return FleetScaler::Start(*std::move(scaling), &server.engine(), log);
}

// Opens the database, once this process has its lock.
absl::StatusOr<std::unique_ptr<db::SweepStore>> OpenStore(const std::string& path, Running& running,
                                                          const LogFunction& log) {
  if (!running.lock.taken()) {
    ASSIGN_OR_RETURN(running.lock, db::StoreLock::Take(path));
  }
  const db::LookOver look_over = db::LookOverFor(path);
  ASSIGN_OR_RETURN(auto store, db::SqliteSweepStore::Open(path, look_over));
  ASSIGN_OR_RETURN(running.store_id, store->StoreId());
  if (look_over == db::LookOver::kLater) {
    ASSIGN_OR_RETURN(running.search, db::DamageSearch::Start(path));
    log({.message = absl::StrCat("looks database ", path, " over for damage meanwhile")});
  }
  return store;
}

// Returns how the server follows another one; nullopt if it is no standby.
absl::StatusOr<std::optional<server::StandbyOptions>> ReadStandby(const ServeFlags& flags,
                                                                  Running& running) {
  if (flags.standby_of.empty()) return std::nullopt;
  absl::StatusOr<std::vector<ServerAccess>> servers = flags.standby_of.ReadAll();
  if (!servers.ok()) return RenameField(servers.status(), "server", "standby_of");
  server::StandbyOptions standby;
  standby.servers = *std::move(servers);
  standby.name = absl::StrCat(host::HostName(), " ", flags.listen);
  standby.open_copy = [&flags, &running]() -> absl::StatusOr<std::unique_ptr<db::StandbyCopy>> {
    ASSIGN_OR_RETURN(running.lock, db::StoreLock::Take(flags.db));
    return db::StandbyCopy::Open(flags.db);
  };
  return standby;
}

// Reads the flags that are numbers.
absl::Status ReadNumbers(const ServeFlags& flags, server::ServerOptions& options) {
  RETURN_IF_ERROR(CheckPositive("lease_s", flags.lease_s));
  options.engine.lease = absl::Seconds(flags.lease_s);
  options.engine.heartbeat = options.engine.lease / 6;
  options.engine.reconnect_grace = options.engine.lease / 6;
  RETURN_IF_ERROR(CheckPositive("max_agent_failures", flags.max_agent_failures));
  options.engine.max_agent_failures = flags.max_agent_failures;
  RETURN_IF_ERROR(CheckPositive("keep_events_days", flags.keep_events_days));
  options.engine.event_retention = absl::Hours(24) * flags.keep_events_days;
  if (!(flags.standby_wait_s >= 0.0 && flags.standby_wait_s <= kMostStandbyWaitS)) {
    return FieldError("standby_wait_s", absl::StrCat(flags.standby_wait_s),
                      absl::StrCat("must be from 0 to ", kMostStandbyWaitS));
  }
  options.standby_wait = absl::Seconds(flags.standby_wait_s);
  return absl::OkStatus();
}

absl::Status Serve(const ServeFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  const LogFunction log = MakeLog(context.err, flags.log, absl::Now);
  server::ServerOptions options = PrepareServer(context, log);
  options.listen = flags.listen;
  ASSIGN_OR_RETURN(options.tls, ReadTls(flags));
  ASSIGN_OR_RETURN(std::optional<FleetScaling> scaling,
                   flags.scaling.Read({.listen = flags.listen,
                                       .has_tls = options.tls.has_value(),
                                       .takes_certificates = !flags.client_ca_file.empty()},
                                      context));
  options.open_tokens = [&flags] { return db::TokenStore::Open(flags.db); };
  RETURN_IF_ERROR(ReadNumbers(flags, options));
  options.limits = flags.limits;
  options.limits.max_search = absl::Seconds(flags.max_search_s);
  if (!flags.http.empty()) {
    options.http = server::HttpOptions{.listen = flags.http, .names = flags.http_names};
  } else if (!flags.http_names.empty()) {
    return FieldError("http_name", flags.http_names.front(), "needs --http");
  }
  Running running;
  ASSIGN_OR_RETURN(options.standby, ReadStandby(flags, running));
  const auto open = [&] { return OpenStore(flags.db, running, log); };
  std::optional<server::Metrics> metrics;  // outlives the server
  std::unique_ptr<server::MetricsPage> page;
  if (!flags.metrics_listen.empty() || options.http) {
    metrics.emplace(options.monotonic_clock);
    options.metrics = &*metrics;
  }
  if (!flags.metrics_listen.empty()) {
    ASSIGN_OR_RETURN(page, server::MetricsPage::Open(flags.metrics_listen, *metrics));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<server::Server> server,
                   server::Server::Start(open, std::move(options)));
  context.out << "listening on " << server->address() << std::endl;
  if (!server->http_address().empty()) {
    context.out << "page on " << (flags.certificate_file.empty() ? "http://" : "https://")
                << server->http_address() << "/" << std::endl;
  }
  if (page != nullptr) {
    context.out << "metrics on http://" << page->address() << "/metrics" << std::endl;
  }
  if (!flags.standby_of.empty()) {
    context.out << "standby of " << flags.standby_of.address() << std::endl;
  }
  std::unique_ptr<FleetScaler> scaler;
  const auto start_scaler = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(scaler,
                     StartScaler(flags, std::move(scaling), running.store_id, *server, log));
    return absl::OkStatus();
  };
  absl::Status ended = WaitForStop(stop, running, *server, start_scaler, log);
  // First, while agents can still deliver their results.
  if (scaler != nullptr) scaler->Stop();
  server->Stop();
  return ended;
}

// Adds the flags of the limits on callers (server/calls/limits.h).
void AddLimitFlags(CLI::App& command, ServeFlags& flags) {
  const auto add = [&command](const std::string& name, auto& value,
                              const std::string& description) {
    command.add_option(name, value, description)->capture_default_str()->option_text("N");
  };
  add("--max-connections", flags.limits.max_connections,
      "Most simultaneous connections, within the limit on open files (ulimit -n)");
  add("--max-agents", flags.limits.max_agents, "Most simultaneous streams of agents");
  add("--max-watchers", flags.limits.max_watchers, "Most simultaneous streams of `sweep watch`");
  add("--max-watchers-per-caller", flags.limits.max_watchers_per_caller,
      "Most simultaneous streams of `sweep watch` of one token or certificate");
  add("--max-searches-per-caller", flags.limits.max_searches_per_caller,
      "Most running and waiting searches of one token or certificate");
  add("--max-calls-per-s", flags.limits.max_calls_per_s,
      "Calls per second that one token or certificate may begin, averaged over time");
  add("--max-calls", flags.limits.max_calls, "Most calls that wait for an answer simultaneously");
  add("--max-calls-per-caller", flags.limits.max_calls_per_caller,
      "Most calls of one token or certificate that wait for an answer");
  add("--max-search-s", flags.max_search_s, "Seconds after which a search ends without an answer");
}

}  // namespace

void AddServeCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand("serve", "Answer requests and run sweeps on agents");
  command->add_option("--db", flags->db, "Database file; it is created if it does not exist")
      ->required()
      ->option_text("FILE");
  command->add_option("--listen", flags->listen, "Address to listen on; port 0 picks a free one")
      ->capture_default_str()
      ->option_text("HOST:PORT");
  command
      ->add_option(
          "--tls-cert", flags->certificate_file,
          "Own certificate: listen over TLS, and ask callers for a token or a certificate; "
          "an address that other machines reach takes it")
      ->option_text("FILE");
  command->add_option("--tls-key", flags->key_file, "Its private key")->option_text("FILE");
  command
      ->add_option(
          "--tls-client-ca", flags->client_ca_file,
          "CA certificates to check callers' certificates against; without it callers need tokens")
      ->option_text("FILE");
  command
      ->add_option("--lease-s", flags->lease_s,
                   "Seconds of silence after which an agent's trials go to other agents")
      ->capture_default_str()
      ->option_text("T");
  command
      ->add_option("--max-agent-failures", flags->max_agent_failures,
                   "Consecutive infrastructure failures after which an agent is quarantined")
      ->capture_default_str()
      ->option_text("K");
  command
      ->add_option("--keep-events-days", flags->keep_events_days,
                   "Days after a sweep's end until its events are deleted, except the last event")
      ->capture_default_str()
      ->option_text("N");
  command
      ->add_option("--metrics-listen", flags->metrics_listen,
                   "Loopback address at which Prometheus reads /metrics; default: none")
      ->option_text("HOST:PORT");
  command
      ->add_option("--http", flags->http,
                   "Address of the page for browsers and of calls in JSON, over TLS if --listen "
                   "is; default: none")
      ->option_text("HOST:PORT");
  command
      ->add_option("--http-name", flags->http_names,
                   "Name by which browsers reach --http, beside its address and localhost")
      ->option_text("NAME");
  flags->standby_of.AddForStandby(*command, context);
  command
      ->add_option("--standby-wait-s", flags->standby_wait_s,
                   "Most seconds for which a result waits, before it is acknowledged, until the "
                   "standbys have it too; 0: it does not wait")
      ->capture_default_str()
      ->option_text("T");
  flags->scaling.Add(*command, context);
  AddLimitFlags(*command, *flags);
  flags->log.Add(*command);
  command_line::AddExample(*command, "meshwright serve --db sweeps.db --listen 127.0.0.1:7077");
  command_line::AddExample(*command,
                           "meshwright serve --db sweeps.db --listen 10.0.0.1:7077 --tls-cert "
                           "server.pem --tls-key server.key --tls-client-ca ca.pem");
  command_line::AddExample(*command,
                           "meshwright serve --db copy.db --listen 127.0.0.1:7078 --standby-of "
                           "127.0.0.1:7077");
  command_line::AddExample(*command,
                           "meshwright serve --db sweeps.db --listen 127.0.0.1:7077 --launcher "
                           "slurm --max-nodes 4 --agent-server 127.0.0.1:0 --devices cpu:2");
  command->callback([flags, &context] {
    const absl::Status status = Serve(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
  });
}

}  // namespace meshwright::cli
