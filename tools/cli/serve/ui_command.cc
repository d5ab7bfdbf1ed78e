#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/system/random_bytes.h"
#include "base/text/status_macros.h"
#include "db/sqlite_store.h"
#include "db/store_lock.h"
#include "executor/command/run_folder.h"
#include "server/server.h"
#include "server/services/metrics.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/log_sink.h"
#include "tools/cli/serve/browser.h"
#include "tools/cli/serve/prepare_server.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr absl::Duration kUiPoll = absl::Milliseconds(50);
constexpr size_t kKeyBytes = 32;

struct UiFlags {
  std::string db;
  std::string http = "127.0.0.1:0";
  std::string listen;
  bool no_open = false;
  LogFlags log;
};

absl::Status RunUi(const UiFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  const LogFunction log = MakeLog(context.err, flags.log, absl::Now);
  server::ServerOptions options = PrepareServer(context, log);
  ASSIGN_OR_RETURN(const std::string key, RandomHex(kKeyBytes));
  options.listen = flags.listen;
  options.http = server::HttpOptions{.listen = flags.http, .names = {}, .key = key};
  server::Metrics metrics(options.monotonic_clock);  // outlives the server
  options.metrics = &metrics;
  // Holds the page that leads a browser here and, without --db, the database.
  ASSIGN_OR_RETURN(const command::RunFolder folder,
                   command::RunFolder::Make(std::filesystem::temp_directory_path().string()));
  const std::string db = flags.db.empty() ? absl::StrCat(folder.path(), "/ui.db") : flags.db;
  db::StoreLock lock;  // outlives the server, and with it the store
  const auto open = [&]() -> absl::StatusOr<std::unique_ptr<db::SweepStore>> {
    ASSIGN_OR_RETURN(lock, db::StoreLock::Take(db));
    return db::SqliteSweepStore::Open(db);
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<server::Server> server,
                   server::Server::Start(open, std::move(options)));
  const std::string url = absl::StrCat("http://", server->http_address(), "/#key=", key);
  context.out << url << std::endl;
  if (!server->address().empty()) {
    context.out << "agents on " << server->address() << std::endl;
  }
  if (!flags.no_open) {
    const absl::Status opened = OpenInBrowser(url, folder, context.environment);
    if (!opened.ok()) {
      log({.message = absl::StrCat("open the address above in a browser: none was started here, ",
                                   "for ", opened.message())});
    }
  }
  while (!stop.Requested()) {
    absl::SleepFor(kUiPoll);
    RETURN_IF_ERROR(lock.CheckInPlace());
  }
  server->Stop();
  return absl::OkStatus();
}

}  // namespace

void AddUiCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<UiFlags>();
  CLI::App* command =
      app.add_subcommand("ui", "Plan and look at sweeps in a browser on this machine");
  command
      ->add_option("--db", flags->db,
                   "Database file of sweeps; default: one that is deleted at the end")
      ->option_text("FILE");
  command
      ->add_option("--http", flags->http, "Loopback address of the page; port 0 picks a free one")
      ->capture_default_str()
      ->option_text("HOST:PORT");
  command
      ->add_option("--listen", flags->listen,
                   "Loopback address for agents and other commands, which need no key there; "
                   "default: none")
      ->option_text("HOST:PORT");
  command->add_flag("--no-open", flags->no_open, "Print the address and start no browser");
  flags->log.Add(*command);
  command_line::AddExample(*command, "meshwright ui --db sweeps.db");
  command->callback([flags, &context] {
    const absl::Status status = RunUi(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, OutputFormat::kText, status);
  });
}

}  // namespace meshwright::cli
