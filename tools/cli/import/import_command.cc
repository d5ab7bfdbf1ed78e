#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/codec/json_codec.h"
#include "planner/interchange/import_answer.h"
#include "planner/interchange/import_fields.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/framework_flag.h"
#include "tools/cli/common/spec_source.h"
#include "tools/cli/io/json_output.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct ImportFlags {
  FrameworkFlag from;
  std::vector<std::string> files;
  std::vector<std::string> environment;
  std::vector<std::string> further;
  std::optional<int64_t> devices;
  std::optional<int64_t> seq_len;
  std::optional<int64_t> global_batch;
  std::string model;
  OutputFlags output;
};

// Splits NAME=VALUE.
absl::StatusOr<planner::ConfigEntry> ReadPair(std::string_view flag, const std::string& text) {
  const size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0) return FieldError(flag, text, "must be NAME=VALUE");
  planner::ConfigEntry entry;
  entry.name = text.substr(0, sign);
  entry.value = text.substr(sign + 1);
  return entry;
}

absl::StatusOr<planner::ImportQuestion> ReadQuestion(const ImportFlags& flags,
                                                     CommandContext& context) {
  planner::ImportQuestion question;
  for (const std::string& path : flags.files) {
    if (path == kStandardInput) {
      ASSIGN_OR_RETURN(std::string text, context.files.ReadStandardInput("FILE", kMaxSpecBytes));
      question.files.push_back({path, std::move(text)});
    } else {
      ASSIGN_OR_RETURN(std::string text, context.files.Read("FILE", path, kMaxSpecBytes));
      question.files.push_back({path, std::move(text)});
    }
  }
  for (const std::string& text : flags.environment) {
    ASSIGN_OR_RETURN(const planner::ConfigEntry entry, ReadPair("env", text));
    question.environment[entry.name] = entry.value;
  }
  for (const std::string& text : flags.further) {
    ASSIGN_OR_RETURN(planner::ConfigEntry entry, ReadPair("set", text));
    question.further.push_back(std::move(entry));
  }
  question.devices = flags.devices;
  question.seq_len = flags.seq_len;
  question.global_batch = flags.global_batch;
  question.model = flags.model;
  return question;
}

void PrintEntries(const planner::Imported& imported, planner::EntryStatus status,
                  std::ostream& out) {
  bool first = true;
  for (const planner::ImportedEntry& entry : imported.entries) {
    if (entry.status != status) continue;
    if (first) out << "\n" << NameOf(planner::kEntryStatusNames, status) << ":\n";
    first = false;
    out << "  " << EscapeControls(ShortText(entry.name, 120));
    if (!entry.value.empty()) out << " " << EscapeControls(ShortText(entry.value, 120));
    if (!entry.hint.empty()) out << ": " << EscapeControls(ShortText(entry.hint, 400));
    out << "\n";
  }
}

void PrintText(const planner::Imported& imported, std::ostream& out) {
  if (imported.layout) out << planner::FormatLayout(*imported.layout) << "\n";
  std::vector<std::string> facts;
  if (!imported.model.empty()) facts.push_back(EscapeControls(ShortText(imported.model, 200)));
  if (imported.devices > 0) facts.push_back(absl::StrCat(imported.devices, " devices"));
  if (imported.seq_len > 0) {
    facts.push_back(absl::StrCat("sequences of ", imported.seq_len, " tokens"));
  }
  if (imported.global_batch > 0) {
    facts.push_back(absl::StrCat("a batch of ", imported.global_batch));
  }
  if (!imported.dtype.empty()) facts.push_back(imported.dtype);
  for (const auto& [name, value] : imported.options)
    facts.push_back(absl::StrCat(name, "=", value));
  out << absl::StrJoin(facts, ", ") << "\n";
  for (const std::string& sentence : imported.missing) {
    out << "missing: " << EscapeControls(ShortText(sentence, 400)) << "\n";
  }
  PrintEntries(imported, planner::EntryStatus::kRejected, out);
  PrintEntries(imported, planner::EntryStatus::kUsed, out);
  PrintEntries(imported, planner::EntryStatus::kIgnored, out);
}

absl::Status RunImport(const ImportFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const planner::ImportQuestion question, ReadQuestion(flags, context));
  ASSIGN_OR_RETURN(const planner::ImportAnswer answer,
                   planner::AnswerImport(flags.from.name, question));
  SayFramework(flags.from, "--from", context.err);
  const planner::Imported& imported = answer.imported;
  const bool follows = imported.layout.has_value() && !imported.rejects();
  if (flags.output.format == OutputFormat::kText) {
    PrintText(imported, context.out);
  } else {
    PrintJson(planner::WriteOrderedJson(answer), context.out);
  }
  context.exit_code = follows ? kExitOk : kExitBadInput;
  return absl::OkStatus();
}

}  // namespace

void AddImportCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* command =
      app.add_subcommand("import", "Read a framework's launch script or configuration as a layout");
  flags->from.Add(
      *command, "--from",
      "Framework whose files these are; default: the framework whose option names they have");
  command
      ->add_option(
          "FILE", flags->files,
          "Shell script with a launch line, list of arguments, YAML, JSON or Python file, "
          "or a training log that lists its arguments; - for standard input. Nothing in it "
          "is run")
      ->required()
      ->option_text("FILE");
  command->add_option("--gpus", flags->devices, "Devices of all nodes, if the files do not say it")
      ->option_text("N");
  command->add_option("--seq-len", flags->seq_len, "Tokens per sequence, in place of the files'")
      ->option_text("S");
  command
      ->add_option("--global-batch", flags->global_batch,
                   "Sequences per optimizer step, in place of the files'")
      ->option_text("B");
  command->add_option("--model", flags->model, "Name of the model, in place of the files'")
      ->option_text("MODEL");
  command
      ->add_option("--env", flags->environment,
                   "Variable that the script takes from its environment; may be repeated")
      ->option_text("NAME=VALUE");
  command
      ->add_option("--set", flags->further,
                   "Further option of the framework with its value; may be repeated")
      ->option_text("NAME=VALUE");
  flags->output.AddFormat(*command);
  command_line::AddExample(*command, "meshwright import --from megatron train.sh --gpus 64");
  command->callback([flags, &context] {
    const absl::Status status = RunImport(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli
