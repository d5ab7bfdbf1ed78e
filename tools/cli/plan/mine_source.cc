#include "tools/cli/plan/mine_source.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/interchange/config_files.h"
#include "planner/interchange/import.h"
#include "planner/layout/layout.h"
#include "planner/spec/number_formats.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::cli {
namespace {

// Returns the framework whose file this is; null if neither its content nor the query's framework
// tells.
const planner::Framework* FrameworkOf(const planner::ConfigFile& file, const std::string& asked) {
  const auto of_file = planner::FrameworkOfFiles({file});
  if (of_file.ok()) return *of_file;
  for (const planner::Framework* framework : planner::Frameworks()) {
    if (framework->name == asked || framework->profile == asked) return framework;
  }
  return nullptr;
}

void Warn(const planner::Imported& imported, const planner::Framework& framework,
          const std::string& path, const planner::PlanQuery& query, std::ostream& err) {
  std::vector<std::string> rejected;
  for (const planner::ImportedEntry& entry : imported.entries) {
    if (entry.status == planner::EntryStatus::kRejected) {
      rejected.push_back(EscapeControls(ShortText(entry.name, 60)));
    }
  }
  if (!rejected.empty()) {
    err << "meshwright: --mine leaves aside what changes memory or time: "
        << absl::StrJoin(rejected, ", ") << "; meshwright import --from "
        << std::string(framework.name) << " " << EscapeControls(path) << " says why\n";
  }
  const auto other = [&](const char* what, int64_t said, int64_t asked) {
    if (said == 0 || said == asked) return;
    err << "meshwright: --mine: the file has " << what << " " << said << ", the question " << asked
        << "\n";
  };
  other("a batch of", imported.global_batch, query.training.global_batch);
  other("sequences of", imported.seq_len, query.training.seq_len);
  const std::string dtype(planner::PrecisionName(query.training.precision));
  if (!imported.dtype.empty() && imported.dtype != dtype) {
    err << "meshwright: --mine: the file has " << imported.dtype << ", the question " << dtype
        << "\n";
  }
}

bool ChoosesProfile(const std::string& option) {
  for (const planner::RunOption& row : planner::kRunOptions) {
    if (row.name == option) return row.chooses_profile;
  }
  return false;
}

void WarnOfProfile(const std::string& option, const std::string& value,
                   const planner::PlanQuery& query, std::ostream& err) {
  for (const planner::RunOption& row : planner::kRunOptions) {
    const std::string asked = row.text(query.training.options);
    if (row.name != option || asked == value) continue;
    err << "meshwright: --mine: the file has " << option << "=" << value << ", the question "
        << asked << "\n";
  }
}

}  // namespace

absl::StatusOr<std::string> ReadMine(CommandContext& context, const std::string& mine,
                                     const planner::PlanQuery& query) {
  std::error_code error;
  if (mine.empty() || planner::ParseLayout(mine).ok() ||
      !std::filesystem::is_regular_file(mine, error)) {
    return mine;
  }
  ASSIGN_OR_RETURN(const std::string text, context.files.Read("mine", mine, kMaxSpecBytes));
  const planner::Framework* framework = FrameworkOf({mine, text}, query.framework.name);
  if (framework == nullptr) {
    return FieldError("mine", mine,
                      "is no file whose framework is clear; --framework must be one that import "
                      "--from takes");
  }
  planner::ImportQuestion question;
  question.files.push_back({mine, text});
  if (query.devices > 0) question.devices = query.devices;
  ASSIGN_OR_RETURN(const planner::Imported imported, planner::Import(*framework, question));
  if (!imported.layout) {
    return FieldError("mine", mine,
                      absl::StrCat("says no layout: ", absl::StrJoin(imported.missing, "; ")));
  }
  Warn(imported, *framework, mine, query, context.err);
  std::string layout = planner::FormatLayout(*imported.layout);
  for (const auto& [name, value] : imported.options) {
    if (ChoosesProfile(name)) {  // all layouts of a ranking have the question's profile
      WarnOfProfile(name, value, query, context.err);
    } else {
      absl::StrAppend(&layout, " ", name, "=", value);
    }
  }
  return layout;
}

}  // namespace meshwright::cli
