#include "tools/cli/db/db_command.h"

#include <memory>

#include "db/check.h"
#include "nlohmann/json.hpp"
#include "planner/base/status_macros.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/text.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

void PrintText(const std::string& path, const db::StoreCheck& check, std::ostream& out) {
  for (const std::string& problem : check.problems) out << "damaged: " << problem << "\n";
  out << path << ": " << (check.ok() ? "ok" : "damaged") << ", schema version "
      << check.schema_version << ", " << FormatCount(check.sweeps) << " sweeps, "
      << FormatCount(check.trials) << " trials, " << FormatCount(check.attempts) << " attempts, "
      << FormatCount(check.events) << " events\n";
  if (check.unseen_wal_bytes > 0) {
    out << "not looked at: the newest changes, " << FormatBytes(check.unseen_wal_bytes) << " in "
        << path << "-wal; that takes the right to write in the folder\n";
  }
}

absl::Status Check(const std::string& path, OutputFormat format, CommandContext& context) {
  ASSIGN_OR_RETURN(const db::StoreCheck check, db::CheckStore(path));
  if (format == OutputFormat::kText) {
    PrintText(path, check, context.out);
  } else {
    // This schema_version is the database's.
    PrintJson({{"ok", check.ok()},
               {"schema_version", check.schema_version},
               {"sweeps", check.sweeps},
               {"trials", check.trials},
               {"attempts", check.attempts},
               {"events", check.events},
               {"unseen_wal_bytes", check.unseen_wal_bytes},
               {"problems", check.problems}},
              context.out);
  }
  context.exit_code = check.ok() ? kExitOk : kExitFailed;
  return absl::OkStatus();
}

}  // namespace

void AddDbCommand(CLI::App& app, CommandContext& context) {
  CLI::App* group = app.add_subcommand("db", "Look after a server's database");
  group->require_subcommand(1);
  auto path = std::make_shared<std::string>();
  auto output = std::make_shared<OutputFlags>();
  CLI::App* check = group->add_subcommand("check", "Check that the file is whole; changes nothing");
  check->add_option("--db", *path, "Database file")->required()->option_text("FILE");
  output->AddFormat(*check);
  command_line::AddExample(*check, "meshwright db check --db sweeps.db");
  check->callback([path, output, &context] {
    const absl::Status status = Check(*path, output->format, context);
    if (!status.ok()) context.exit_code = ReportError(context, output->format, status);
  });
}

}  // namespace meshwright::cli
