#include "tools/cli/serve/serve_command.h"

#include <memory>

#include "absl/time/clock.h"
#include "db/sqlite_store.h"
#include "db/store_lock.h"
#include "executor/trial/version.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "server/server.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/grpc_log.h"
#include "tools/cli/io/log_sink.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(50);

struct ServeFlags {
  std::string db;
  std::string listen = kDefaultServer;
  bool insecure_listen = false;
  double lease_s = 30.0;
  host::LogLevel log_level = host::LogLevel::kInfo;
};

absl::Status Serve(const ServeFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  QuietGrpcLog();
  RETURN_IF_ERROR(CheckPositive("lease_s", flags.lease_s));
  server::ServerOptions options;
  options.listen = flags.listen;
  options.insecure_listen = flags.insecure_listen;
  options.host_cores = context.host_cores;
  options.search_cores = planner::ThreadsOfThisMachine();
  options.version = std::string(trial::WorkerVersion());
  options.clock = absl::Now;
  options.engine.lease = absl::Seconds(flags.lease_s);
  options.engine.heartbeat = options.engine.lease / 6;
  options.engine.reconnect_grace = options.engine.lease / 6;
  options.log = MakeLog(context.err, flags.log_level, absl::Now);
  db::StoreLock lock;  // outlives the server, and with it the store
  const auto open = [&]() -> absl::StatusOr<std::unique_ptr<db::SweepStore>> {
    ASSIGN_OR_RETURN(lock, db::StoreLock::Take(flags.db));
    return db::SqliteSweepStore::Open(flags.db);
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<server::Server> server,
                   server::Server::Start(open, std::move(options)));
  context.out << "listening on " << server->address() << std::endl;
  while (!stop.Requested()) absl::SleepFor(kPoll);
  server->Stop();
  return absl::OkStatus();
}

}  // namespace

void AddServeCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand("serve", "Answer requests and run sweeps on agents");
  command->add_option("--db", flags->db, "Database file; made where there is none")
      ->required()
      ->option_text("FILE");
  command->add_option("--listen", flags->listen, "Address to listen on; port 0 picks a free one")
      ->capture_default_str()
      ->option_text("HOST:PORT");
  command->add_flag("--insecure-listen", flags->insecure_listen,
                    "Allow an address that other machines reach, without TLS or tokens");
  command
      ->add_option("--lease-s", flags->lease_s,
                   "Silence after which an agent's trials go to others, seconds")
      ->capture_default_str()
      ->option_text("T");
  AddLogLevel(*command, flags->log_level);
  command_line::AddExample(*command, "meshwright serve --db sweeps.db --listen 127.0.0.1:7077");
  command->callback([flags, &context] {
    const absl::Status status = Serve(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
  });
}

}  // namespace meshwright::cli
