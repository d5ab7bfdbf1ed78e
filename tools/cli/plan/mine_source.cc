#include "tools/cli/plan/mine_source.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/model_names.h"
#include "planner/catalog/spec_kind.h"
#include "planner/interchange/config_files.h"
#include "planner/interchange/import.h"
#include "planner/layout/layout.h"
#include "planner/spec/number_formats.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::cli {
namespace {

// Returns the preset that the model's name stands for, with or without an organisation before it;
// empty if there is none.
std::string PresetOf(const std::string& model) {
  const std::string name = model.substr(model.rfind('/') + 1);
  const auto named = planner::ModelNamed(name);
  return named ? named->preset : planner::PresetNamed("model", name);
}

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
    err << "meshwright: --mine ignores settings that change memory or time: "
        << absl::StrJoin(rejected, ", ") << "; meshwright import --from "
        << std::string(framework.name) << " " << EscapeControls(path) << " says why\n";
  }
  const auto other = [&](const char* what, const std::string& said, const std::string& asked) {
    if (said.empty() || said == "0" || said == asked) return;
    err << "meshwright: --mine: the file has " << what << said << "; the command uses " << asked
        << "\n";
  };
  other("a batch of ", std::to_string(imported.global_batch),
        std::to_string(query.training.global_batch));
  other("sequences of ", std::to_string(imported.seq_len), std::to_string(query.training.seq_len));
  other("devices: ", std::to_string(imported.devices), std::to_string(query.devices));
  if (query.model.json.empty()) {
    other("the model ", PresetOf(imported.model), PresetOf(query.model.name));
  }
  other("", imported.dtype, std::string(planner::PrecisionName(query.training.precision)));
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
    err << "meshwright: --mine: the file has " << option << "=" << value << "; the command uses "
        << asked << "\n";
  }
}

// A file of --mine, as import reads it.
struct MineFile {
  const planner::Framework* framework;
  planner::Imported imported;
};

// `asked` names the question's framework. `devices` is 0 if they are not known.
absl::StatusOr<MineFile> ReadMineFile(CommandContext& context, const std::string& mine,
                                      const std::string& asked, int64_t devices) {
  ASSIGN_OR_RETURN(const std::string text, context.files.Read("mine", mine, kMaxSpecBytes));
  const planner::Framework* framework = FrameworkOf({mine, text}, asked);
  if (framework == nullptr) {
    return FieldError("mine", mine,
                      "does not show which framework it is for; --framework must name one that "
                      "import --from takes");
  }
  planner::ImportQuestion question;
  question.files.push_back({mine, text});
  if (devices > 0) question.devices = devices;
  ASSIGN_OR_RETURN(planner::Imported imported, planner::Import(*framework, question));
  return MineFile{framework, std::move(imported)};
}

}  // namespace

bool IsMineFile(const std::string& mine) {
  std::error_code error;
  return !mine.empty() && !planner::ParseLayout(mine).ok() &&
         std::filesystem::is_regular_file(mine, error);
}

absl::Status FillFromMine(CommandContext& context, const std::string& mine, QueryFlags& flags) {
  if (!IsMineFile(mine)) return absl::OkStatus();
  // The cluster may say how many devices the file's ranks of dp share.
  const absl::StatusOr<int64_t> of_cluster = planner::DevicesOf({flags.cluster, ""});
  int64_t devices = of_cluster.value_or(0);
  if (!flags.sizes.empty() && !absl::SimpleAtoi(flags.sizes, &devices)) devices = 0;
  ASSIGN_OR_RETURN(const MineFile file, ReadMineFile(context, mine, flags.framework, devices));
  const planner::Imported& imported = file.imported;
  std::vector<std::string> taken;
  if (flags.model.empty() && !imported.model.empty()) {
    flags.model = imported.model;
    taken.push_back(absl::StrCat("the model ", EscapeControls(ShortText(flags.model, 200))));
  }
  if (flags.seq_len == 0 && imported.seq_len > 0) {
    flags.seq_len = imported.seq_len;
    taken.push_back(absl::StrCat("sequences of ", Grouped(flags.seq_len), " tokens"));
  }
  if (flags.global_batch == 0 && flags.global_batch_tokens == 0 && imported.global_batch > 0) {
    flags.global_batch = imported.global_batch;
    taken.push_back(absl::StrCat("a batch of ", Grouped(flags.global_batch)));
  }
  if (flags.sizes.empty() && !of_cluster.ok() && imported.devices > 0) {
    flags.sizes = std::to_string(imported.devices);
    taken.push_back(absl::StrCat(Grouped(imported.devices), " devices"));
  }
  if (!taken.empty()) {
    context.err << "note: --mine: taken from " << EscapeControls(mine) << ": "
                << ListInWords(taken, "and") << "\n";
  }
  const auto unsaid = [&](const char* field) {
    return FieldError(field, "(absent)",
                      absl::StrCat("must be given, since ", mine, " does not say it"));
  };
  if (flags.model.empty()) return unsaid("model");
  return flags.seq_len == 0 ? unsaid("seq_len") : absl::OkStatus();
}

absl::StatusOr<std::string> ReadMine(CommandContext& context, const std::string& mine,
                                     const planner::PlanQuery& query) {
  if (!IsMineFile(mine)) return mine;
  ASSIGN_OR_RETURN(const MineFile file,
                   ReadMineFile(context, mine, query.framework.name, query.devices));
  const planner::Imported& imported = file.imported;
  if (!imported.layout) {
    return FieldError("mine", mine,
                      absl::StrCat("says no layout: ", absl::StrJoin(imported.missing, "; ")));
  }
  Warn(imported, *file.framework, mine, query, context.err);
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
