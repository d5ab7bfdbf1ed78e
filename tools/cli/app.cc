#include "tools/cli/app.h"

#include <memory>

#include "CLI/CLI.hpp"
#include "tools/cli/agent_command.h"
#include "tools/cli/benchmark_command.h"
#include "tools/cli/calibrate_command.h"
#include "tools/cli/db_command.h"
#include "tools/cli/export_command.h"
#include "tools/cli/planner_commands.h"
#include "tools/cli/schedule_command.h"
#include "tools/cli/serve_command.h"
#include "tools/cli/sweep_commands.h"
#include "tools/cli/terminal.h"
#include "tools/cli/trial_command.h"
#include "tools/cli/validate_command.h"
#include "tools/command_line/help.h"

namespace meshwright {
namespace {

std::string FailureMessage(const CLI::App*, const CLI::Error& error) {
  std::string message = std::string("meshwright: ") + error.what();
  if (error.get_name() == "ConversionError") message += ": a number is needed";
  return message + " (--help shows what is accepted)\n";
}

// --wide for every command that prints text: those that can print something else instead.
void AddWide(CLI::App& command, CommandContext& context) {
  for (CLI::App* subcommand : command.get_subcommands({})) AddWide(*subcommand, context);
  if (command.get_option_no_throw("--format") == nullptr) return;
  command.add_flag_callback(
      "--wide", [&context] { KeepTablesWide(context.out); },
      "Rows of tables in one line each, however narrow the terminal");
}

}  // namespace

int RunCommandLine(int argc, const char* const* argv, CommandContext& context) {
  CLI::App app("Which parallel layout trains this model fastest on this cluster, and does it fit?",
               "meshwright");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("-V,--version", MESHWRIGHT_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.failure_message(FailureMessage);
  AddRecommendCommand(app, context);
  AddEstimateCommand(app, context);
  AddExportCommand(app, context);
  AddScheduleCommand(app, context);
  AddTrialCommand(app, context);
  AddBenchmarkCommand(app, context);
  AddListCommand(app, context);
  AddValidateCommand(app, context);
  AddCalibrateCommand(app, context);
  AddSweepCommand(app, context);
  AddServeCommand(app, context);
  AddAgentCommand(app, context);
  AddDbCommand(app, context);
  AddWide(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version come this way too, with exit code 0.
    const int code = app.exit(error, context.out, context.err);
    return FinishOutput(context, code == 0 ? kExitOk : kExitBadInput);
  }
  return FinishOutput(context, context.exit_code);
}

}  // namespace meshwright
