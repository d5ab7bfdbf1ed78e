#include <memory>
#include <optional>

#include "absl/time/clock.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "db/check.h"
#include "db/maintenance.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/db/db_fields.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/text.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr int64_t kMostDays = 36'500;

void PrintText(const std::string& path, const db::StoreCheck& check, std::ostream& out) {
  for (const std::string& problem : check.problems) out << "damaged: " << problem << "\n";
  out << path << ": " << (check.ok() ? "ok" : "damaged") << ", schema version "
      << check.schema_version << ", " << FormatCount(check.sweeps) << " sweeps, "
      << FormatCount(check.trials) << " trials, " << FormatCount(check.attempts) << " attempts, "
      << FormatCount(check.events) << " events\n";
  if (check.unseen_wal_bytes > 0) {
    out << "not checked: the newest changes, " << FormatBytes(check.unseen_wal_bytes) << " in "
        << path << "-wal; to check them takes the right to write in the folder\n";
  }
}

absl::Status Check(const std::string& path, OutputFormat format, CommandContext& context) {
  ASSIGN_OR_RETURN(const db::StoreCheck check, db::CheckStore(path));
  if (format == OutputFormat::kText) {
    PrintText(path, check, context.out);
  } else {
    // This schema_version is the database's.
    PrintJson(planner::WriteOrderedJson(StoreCheckText{check}), context.out);
  }
  context.exit_code = check.ok() ? kExitOk : kExitFailed;
  return absl::OkStatus();
}

absl::Status BackUp(const std::string& path, const std::string& to, OutputFormat format,
                    CommandContext& context) {
  ASSIGN_OR_RETURN(const db::BackUpResult made, db::BackUpStore(path, to));
  if (format == OutputFormat::kText) {
    context.out << to << ": " << FormatCount(made.sweeps) << " sweeps, " << FormatBytes(made.bytes)
                << ", looked over\n";
  } else {
    PrintJson(planner::WriteOrderedJson(BackUpText{to, made}), context.out);
  }
  return absl::OkStatus();
}

absl::Status Compact(const std::string& path, std::optional<int64_t> keep_events_days,
                     OutputFormat format, CommandContext& context) {
  std::optional<absl::Time> events_before;
  if (keep_events_days) {
    RETURN_IF_ERROR(CheckRange("keep_events_days", *keep_events_days, 0, kMostDays));
    events_before = absl::Now() - absl::Hours(24) * *keep_events_days;
  }
  ASSIGN_OR_RETURN(const db::CompactResult made, db::CompactStore(path, events_before));
  if (format == OutputFormat::kText) {
    context.out << path << ": " << FormatBytes(made.bytes_before) << " became "
                << FormatBytes(made.bytes_after) << "; " << FormatCount(made.events)
                << " events and " << FormatCount(made.shapes)
                << " unused models, trainings, clusters and profiles were deleted\n";
  } else {
    PrintJson(planner::WriteOrderedJson(CompactText{made}), context.out);
  }
  return absl::OkStatus();
}

struct DbFlags {
  std::string path;
  std::string to;
  std::optional<int64_t> keep_events_days;
  OutputFlags output;
};

CLI::App* AddPart(CLI::App& group, const char* name, const char* description,
                  const std::shared_ptr<DbFlags>& flags) {
  CLI::App* part = group.add_subcommand(name, description);
  part->add_option("--db", flags->path, "Database file")->required()->option_text("FILE");
  flags->output.AddFormat(*part);
  return part;
}

}  // namespace

void AddDbCommand(CLI::App& app, CommandContext& context) {
  CLI::App* group = app.add_subcommand("db", "Look after a server's database");
  group->require_subcommand(1);
  const auto run = [&context](const std::shared_ptr<DbFlags>& flags, const auto& part) {
    return [flags, part, &context] {
      const absl::Status status = part(*flags);
      if (!status.ok()) {
        context.exit_code = ReportError(context, flags->output.format, status);
      }
    };
  };

  auto flags = std::make_shared<DbFlags>();
  CLI::App* check =
      AddPart(*group, "check", "Check that the file is whole; changes nothing", flags);
  command_line::AddExample(*check, "meshwright db check --db sweeps.db");
  check->callback(run(flags, [&context](const DbFlags& given) {
    return Check(given.path, given.output.format, context);
  }));

  flags = std::make_shared<DbFlags>();
  CLI::App* backup =
      AddPart(*group, "backup", "Copy the database; a server may go on writing meanwhile", flags);
  backup->add_option("--to", flags->to, "File of the copy, which must not exist yet")
      ->required()
      ->option_text("FILE");
  command_line::AddExample(*backup, "meshwright db backup --db sweeps.db --to sweeps-copy.db");
  backup->callback(run(flags, [&context](const DbFlags& given) {
    return BackUp(given.path, given.to, given.output.format, context);
  }));

  flags = std::make_shared<DbFlags>();
  CLI::App* compact = AddPart(
      *group, "compact", "Give free space back to the disk, while no server uses the file", flags);
  compact
      ->add_option("--keep-events-days", flags->keep_events_days,
                   "Forget events of sweeps that ended longer ago; default: none")
      ->option_text("N");
  command_line::AddExample(*compact, "meshwright db compact --db sweeps.db --keep-events-days 30");
  compact->callback(run(flags, [&context](const DbFlags& given) {
    return Compact(given.path, given.keep_events_days, given.output.format, context);
  }));
}

}  // namespace meshwright::cli
