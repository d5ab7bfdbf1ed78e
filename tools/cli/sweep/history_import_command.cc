#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"
#include "planner/measurement/measurement.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/history_fields.h"
#include "tools/cli/sweep/sweep_calls.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

// Refused rows that a message names.
constexpr int kMostNamedRows = 20;

struct ImportFlags {
  OutputFlags output;
  std::vector<std::string> files;
  bool skip_bad = false;
};

struct ImportedFile {
  std::string path;
  v1::ImportMeasurementsRequest request;
  v1::ImportMeasurementsResponse answer;
};

std::string RowText(const ImportedFile& file, const v1::RefusedRow& row) {
  return absl::StrCat(file.path, ":", row.line(), ": ", row.reason());
}

absl::Status Send(v1::Sweeps::Stub& stub, ImportedFile& file) {
  absl::StatusOr<v1::ImportMeasurementsResponse> answer =
      Call(stub, &v1::Sweeps::Stub::ImportMeasurements, file.request);
  if (!answer.ok()) {
    return absl::Status(answer.status().code(),
                        absl::StrCat(file.path, ": ", answer.status().message()));
  }
  file.answer = *std::move(answer);
  return absl::OkStatus();
}

// Returns one error for all rows of all files, so that they can be corrected together.
absl::Status RefusedStatus(const std::vector<ImportedFile>& files) {
  std::vector<std::string> rows;
  int64_t refused = 0;
  for (const ImportedFile& file : files) {
    for (const v1::RefusedRow& row : file.answer.refused()) {
      if (++refused <= kMostNamedRows) rows.push_back(RowText(file, row));
    }
  }
  if (refused == 0) return absl::OkStatus();
  if (refused > kMostNamedRows) {
    rows.push_back(absl::StrCat("and ", refused - kMostNamedRows, " more"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      FormatCount(refused), refused == 1 ? " row" : " rows",
      " can't be taken, so that nothing was imported (--skip-bad imports the others): ",
      absl::StrJoin(rows, "; ")));
}

void PrintText(const std::vector<ImportedFile>& files, std::ostream& out) {
  for (const ImportedFile& file : files) {
    const v1::ImportMeasurementsResponse& answer = file.answer;
    out << file.path << ": " << FormatCount(answer.rows()) << " rows, "
        << FormatCount(answer.imported()) << " new, " << FormatCount(answer.known())
        << " known already";
    if (answer.refused_size() > 0) out << ", " << answer.refused_size() << " left out";
    out << "\n";
    for (const v1::RefusedRow& row : answer.refused()) out << "  " << RowText(file, row) << "\n";
  }
}

absl::Status Import(const ImportFlags& flags, CommandContext& context) {
  std::vector<ImportedFile> files;
  for (const std::string& path : flags.files) {
    ASSIGN_OR_RETURN(std::string text, context.files.Read("FILE", path));
    if (text.empty()) return FieldError("FILE", path, "is an empty file");
    if (const auto unknown = planner::UnknownColumns(text); !unknown.empty()) {
      context.err << path << ": left out what the format has no column for: "
                  << absl::StrJoin(unknown, ", ") << "\n";
    }
    ImportedFile& file = files.emplace_back();
    file.path = path;
    file.request.set_csv(std::move(text));
    file.request.set_skip_refused(flags.skip_bad);
  }
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  // All files are validated before anything is stored.
  for (ImportedFile& file : files) {
    file.request.set_validate_only(true);
    RETURN_IF_ERROR(Send(*stub, file));
    file.request.set_validate_only(false);
  }
  if (!flags.skip_bad) RETURN_IF_ERROR(RefusedStatus(files));
  for (ImportedFile& file : files) RETURN_IF_ERROR(Send(*stub, file));
  if (flags.output.format == OutputFormat::kText) {
    PrintText(files, context.out);
    return absl::OkStatus();
  }
  ImportText imported;
  for (const ImportedFile& file : files) imported.files.push_back({file.path, file.answer});
  PrintJson(planner::WriteOrderedJson(imported), context.out);
  return absl::OkStatus();
}

}  // namespace

void AddHistoryImportCommand(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* command =
      AddSweepAction(group, context, "import",
                     "Add runs that were measured elsewhere, from CSV files", flags, Import);
  command
      ->add_option("FILE", flags->files,
                   "Files of rows in the format that validate reads; rows that the server has "
                   "already are not added")
      ->required()
      ->option_text("FILE...");
  // Refuses the group's own flags, which have no effect on this command.
  command->preparse_callback([&group](size_t) {
    for (const CLI::Option* option : group.get_options()) {
      if (option->count() == 0 || option == group.get_help_ptr()) continue;
      throw CLI::ValidationError(option->get_name(), "must come after import, if import takes it");
    }
  });
  command->add_flag("--skip-bad", flags->skip_bad,
                    "Leave out rows that can't be taken, rather than import nothing");
  flags->output.AddFormat(*command);
  command_line::AddExample(*command, "meshwright history import runs.csv");
}

}  // namespace meshwright::cli
