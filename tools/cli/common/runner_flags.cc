#include "tools/cli/common/runner_flags.h"

#include <unistd.h>

#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/export.h"

namespace meshwright::cli {
namespace {

// A command line of the user's own gets the user's environment, but for what is Meshwright's.
std::vector<std::string> AllVariables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    const bool is_name = !name.empty() && name.find_first_not_of(
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                              "0123456789_") == std::string::npos;
    if (is_name && !absl::StartsWith(name, "MESHWRIGHT_")) names.push_back(name);
  }
  return names;
}

}  // namespace

void RunnerFlags::Add(CLI::App& app) {
  CLI::Option* const file = app.add_option("--runner", runner,
                                           "Run in the framework of this runner's file instead of "
                                           "Meshwright's own worker");
  file->option_text("FILE");
  app.add_option("--field", fields, "Value of a field of the runner; may be repeated")
      ->needs(file)
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  CLI::Option* const line =
      app.add_option("--command", command,
                     "Run this command, such as 'torchrun --nproc-per-node {ranks} train.py "
                     "{args}', instead of Meshwright's own worker");
  line->excludes(file)->option_text("COMMAND");
  app.add_option("--framework", framework,
                 "Framework of --command: profile of the estimate, and of {args}")
      ->needs(line)
      ->option_text("FRAMEWORK");
  app.add_option("--log", log, "How the log of --command is read")
      ->needs(line)
      ->capture_default_str()
      ->option_text(absl::StrJoin(command::LogFormatNames(), "|"));
}

absl::StatusOr<std::optional<ChosenRunner>> RunnerFlags::Read() const {
  if (runner.empty() && command.empty()) return std::nullopt;
  ChosenRunner chosen;
  if (runner.empty()) {
    if (framework.empty()) {
      return FieldError("framework", "", "must be the framework that --command runs");
    }
    const bool exports = planner::ParseExportTarget(framework).ok();
    ASSIGN_OR_RETURN(chosen.runner,
                     command::RunnerOfCommand(command, framework, exports ? framework : "", log,
                                              AllVariables()));
  } else {
    ASSIGN_OR_RETURN(chosen.runner, command::ReadRunner(runner));
  }
  ASSIGN_OR_RETURN(chosen.choice.fields, ParseFieldValues("field", fields));
  chosen.choice.name = chosen.runner.name;
  chosen.choice.hash = chosen.runner.hash;
  return chosen;
}

absl::StatusOr<std::map<std::string, std::string>> ParseFieldValues(
    const std::string& flag, const std::vector<std::string>& entries) {
  std::map<std::string, std::string> values;
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      return FieldError(flag, entry, "must be KEY=VALUE");
    }
    if (!values.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second) {
      return FieldError(flag, entry, "must not come twice");
    }
  }
  return values;
}

command::CommandHost HostOfCommands(const CommandContext& context) {
  return {.guard = absl::StrCat(context.binary_dir, "/meshwright"),
          .work_folder = context.environment("TMPDIR").value_or("/tmp"),
          .environment = context.environment};
}

}  // namespace meshwright::cli
