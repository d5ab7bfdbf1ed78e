#include "tools/cli/app.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "planner/catalog/catalog.h"
#include "planner/interchange/export_fields.h"
#include "planner/interchange/launch_script.h"
#include "tools/cli/commands.h"
#include "tools/cli/io/terminal.h"
#include "tools/command_line/completion.h"
#include "tools/command_line/declare.h"
#include "tools/command_line/defaults.h"
#include "tools/command_line/help.h"
#include "tools/command_line/typed_line.h"

namespace meshwright::cli {
namespace {

constexpr char kNotes[] = R"(
Exit codes: 0 done, 1 failed while running, 2 bad input, 3 nothing fits, 130 interrupted, 143
terminated. Words are taken in any case.

Defaults come from the command line, else from the environment, else from a configuration file, else
from the command:

  MESHWRIGHT_SERVER           as --server of every command that has it; likewise every other common
                              flag
  MESHWRIGHT_TOKEN            a token itself, for which there is no flag: others could read it
  MESHWRIGHT_CONFIG           the configuration file; empty: none. Without it
                              $XDG_CONFIG_HOME/meshwright/config.toml, where XDG_CONFIG_HOME is
                              ~/.config if it is not set
  server = "10.0.0.1:7077"    a line of the file for a common flag of all commands; flags of one
                              command stand below [recommend] or [sweep.start]
)";

constexpr char kExample[] =
    "meshwright recommend --model llama-3-70b --cluster h100 --gpus 512 --seq-len 4096 "
    "--global-batch 1024";

// Expands the placeholders in the commands' flags: MODEL, CLUSTER and PROFILE stand for the presets
// of that kind, PRESET for those of the kind that the line names, and FRAMEWORK for the frameworks
// that export and import know.
std::vector<std::string> PlaceholderNames(const std::string& placeholder,
                                          const std::vector<std::string>& words) {
  const auto typed = [&](const char* kind) {
    return placeholder == "PRESET" && std::find(words.begin(), words.end(), kind) != words.end();
  };
  if (placeholder == "MODEL" || typed("models")) return planner::ModelNames();
  if (placeholder == "CLUSTER" || typed("clusters")) return planner::ClusterNames();
  if (placeholder == "PROFILE" || typed("profiles")) return planner::ProfileNames();
  if (placeholder == "FRAMEWORK")
    return {planner::kExportTargets.begin(), planner::kExportTargets.end()};
  return {};
}

// Requests for help are answered whatever the configuration says.
bool AsksForHelp(const std::vector<std::string>& words) {
  static const std::vector<std::string> kWords = {"-h",   "--help",  "-V",         "--version",
                                                  "help", "version", "completion", "man"};
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
  });
}

// Adds --wide to every command that prints text; those are the ones with --format.
void AddWide(CLI::App& command, CommandContext& context) {
  for (CLI::App* subcommand : command.get_subcommands({})) AddWide(*subcommand, context);
  if (command.get_option_no_throw("--format") == nullptr) return;
  command
      .add_flag_callback(
          "--wide", [&context] { KeepTablesWide(context.out); },
          "Print each row of a table in one line, even on a narrow terminal")
      ->group(command_line::kCommonFlags);
}

// The commands below `meshwright`, in the order of its help.
struct TopCommand {
  std::string_view name;
  void (*add)(CLI::App& app, CommandContext& context);
};

constexpr std::array<TopCommand, 27> kTopCommands = {{
    {"recommend", AddRecommendCommand},
    {"estimate", AddEstimateCommand},
    {"compare", AddCompareCommand},
    {"scale", AddScaleCommand},
    {"study", AddStudyCommand},
    {"fastest", AddFastestCommand},
    {"fit", AddFitCommand},
    {"export", AddExportCommand},
    {"import", AddImportCommand},
    {"schedule", AddScheduleCommand},
    {"trial", AddTrialCommand},
    {"benchmark", AddBenchmarkCommand},
    {"list", AddListCommand},
    {"validate", AddValidateCommand},
    {"replay", AddReplayCommand},
    {"calibrate", AddCalibrateCommand},
    {"sweep", AddSweepCommand},
    {"history", AddHistoryCommand},
    {"serve", AddServeCommand},
    {"ui", AddUiCommand},
    {"agent", AddAgentCommand},
    {"agents", AddAgentsCommand},
    {"standby", AddStandbyCommand},
    {"db", AddDbCommand},
    {"doctor", AddDoctorCommand},
    {"token", AddTokenCommand},
    {"mcp",
     [](CLI::App& app, CommandContext& context) { AddMcpCommand(app, AllCommands(), context); }},
}};

OutputFormat FormatOf(const command_line::TypedLine& line) {
  return line.WantsJson() ? OutputFormat::kJson : OutputFormat::kText;
}

int RunParsed(CLI::App& app, const std::vector<std::string>& words,
              const command_line::TypedLine& line, CommandContext& context) {
  try {
    // CLI11 takes the words from the end.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& asked) {
    app.exit(asked, context.out, context.err);
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    if (line.LacksCommand()) {
      const CLI::App& command = command_line::ParsedCommand(app);
      context.err << command.get_formatter()->make_help(
          &command, command_line::CommandPath(command), CLI::AppFormatMode::Normal);
      return kExitBadInput;
    }
    return ReportError(context, FormatOf(line), line.Explain(error));
  }
  return context.exit_code;
}

}  // namespace

CommandTree AllCommands() {
  return {.make = MakeCommand,
          .run = [](CLI::App& app, const std::vector<std::string>& words, CommandContext& context) {
            return RunWords(app, words, {}, context);
          }};
}

std::unique_ptr<CLI::App> MakeCommands(CommandContext& context) { return MakeCommand(context, {}); }

std::unique_ptr<CLI::App> MakeCommand(CommandContext& context, std::string_view name) {
  auto app = std::make_unique<CLI::App>(
      "Which parallel layout trains this model fastest on this cluster, and does it fit?",
      "meshwright");
  app->formatter(std::make_shared<command_line::HelpFormatter>());
  app->set_version_flag("-V,--version", MESHWRIGHT_VERSION, "Print the version and exit");
  app->require_subcommand(1);
  const auto is_asked = [name](const TopCommand& command) { return command.name == name; };
  const bool all = std::none_of(kTopCommands.begin(), kTopCommands.end(), is_asked);
  for (const TopCommand& command : kTopCommands) {
    if (all || is_asked(command)) command.add(*app, context);
  }
  if (all) AddAboutCommands(*app, MakeCommands, context);
  AddWide(*app, context);
  app->footer(kNotes);
  command_line::AddExample(*app, kExample);
  return app;
}

int RunWords(CLI::App& app, const std::vector<std::string>& words,
             command_line::DefaultSources sources, CommandContext& context) {
  command_line::TypedLine line(app, words);
  line.set_default_sources(std::move(sources));
  context.command_line = absl::StrCat("meshwright ", planner::QuotedWords(words));
  context.in_words_of_line = [&line](const absl::Status& status) {
    return line.InItsWords(status);
  };
  const int exit_code = FinishOutput(context, RunParsed(app, words, line, context));
  context.in_words_of_line = {};
  return exit_code;
}

int RunCommandLine(int argc, const char* const* argv, CommandContext& context) {
  const std::unique_ptr<CLI::App> app = MakeCommands(context);
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == command_line::kCompleteWord) {
    command_line::PrintCompletion(
        command_line::Complete(*app, {words.begin() + 1, words.end()}, PlaceholderNames),
        context.out);
    return FinishOutput(context, kExitOk);
  }
  absl::StatusOr<command_line::DefaultSources> defaults =
      command_line::ApplyDefaults(*app, context.environment);
  if (defaults.ok()) return RunWords(*app, words, *std::move(defaults), context);
  if (AsksForHelp(words)) return RunWords(*app, words, {}, context);
  const command_line::TypedLine line(*app, words);
  return ReportError(context, FormatOf(line), defaults.status());
}

}  // namespace meshwright::cli
