#include "tests/tools/schema/schema_files.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "planner/report/replay_fields.h"
#include "tests/tools/schema/schema_parts.h"
#include "tools/cli/benchmark/benchmark_fields.h"
#include "tools/cli/calibrate/calibrate_fields.h"
#include "tools/cli/common/error_fields.h"
#include "tools/cli/db/db_fields.h"
#include "tools/cli/doctor/finding_fields.h"
#include "tools/cli/plan/preset_fields.h"
#include "tools/cli/standby/standby_fields.h"
#include "tools/cli/sweep/ask_fields.h"
#include "tools/cli/token/token_fields.h"
#include "tools/cli/trial/trial_fields.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

constexpr char kDraft[] = "http://json-schema.org/draft-07/schema#";

class FilesWriter {
 public:
  // Of a command, named as its file: `recommend --format json`.
  template <typename T>
  void AddCommand(const std::string& name) {
    Add<T>(name, absl::StrCat("meshwright ", name, " --format json"));
  }
  template <typename T>
  void Add(const std::string& name, const std::string& title) {
    ordered_json file = {{"$schema", kDraft}, {"title", title}};
    SchemaWriter writer(sources_, name, file, SchemaPart<T>::Message());
    file["required"] = {"schema_version"};
    file["properties"]["schema_version"] = {
        {"type", "integer"}, {"description", "Version of what the keys mean"}, {"const", 1}};
    writer.Write<T>();
    files_[name] = std::move(file);
  }
  // Of a command that has another `schema_version`.
  template <typename T>
  void AddUnversioned(const std::string& name, const std::string& title) {
    ordered_json file = {{"$schema", kDraft}, {"title", title}};
    SchemaWriter(sources_, name, file, SchemaPart<T>::Message()).template Write<T>();
    files_[name] = std::move(file);
  }

  // In parts.json.
  template <typename T>
  void AddPart() {
    const std::string name(SchemaPart<T>::kName);
    const google::protobuf::Descriptor* message = SchemaPart<T>::Message();
    ordered_json part;
    SchemaWriter writer(sources_, name, part, message);
    writer.Write<T>();
    const std::string text =
        message == nullptr ? std::string(SchemaPart<T>::kSentence) : sources_.comments.Of(*message);
    if (text.empty()) sources_.problems.push_back(name + " is not described");
    parts_[name] = WithDescription(std::move(part), text);
  }

  SchemaFiles Take() {
    files_["parts"] = {{"$schema", kDraft},
                       {"title", "Parts that several commands print"},
                       {"definitions", std::move(parts_)}};
    return {std::move(files_), std::move(sources_.problems)};
  }

 private:
  SchemaSources sources_;
  std::map<std::string, ordered_json> files_;
  ordered_json parts_ = ordered_json::object();
};

void AddAnswers(FilesWriter& files) {
  files.AddPart<planner::StageMemory>();
  files.AddPart<planner::TimeEstimate>();
  files.AddPart<planner::RankedLayout>();
  files.AddPart<RequestText>();
  files.AddPart<planner::Funnel>();
  files.AddPart<planner::PresetEvidence>();
  files.AddPart<planner::RestsOn>();
  files.AddPart<planner::SlowerPart>();
  files.AddPart<planner::UserLayoutReport>();
  files.AddCommand<RecommendText>("recommend");
  files.AddCommand<EstimateText>("estimate");
  files.AddCommand<CompareText>("compare");
  files.Add<ScaleText>("scale",
                       "meshwright scale --format json, and recommend's for a range of sizes");
  files.AddCommand<StudyText>("study");
  files.AddCommand<FastestText>("fastest");
  files.AddCommand<FitText>("fit");
}

void AddSweeps(FilesWriter& files) {
  files.AddPart<trial::RankResult>();
  files.AddPart<trial::TrialResult>();
  files.AddPart<SweepText>();
  files.AddPart<TrialText>();
  files.AddPart<CandidateText>();
  files.AddPart<ComparedTrial>();
  files.AddPart<TimeChange>();
  files.AddPart<OnlyThere>();
  files.Add<StartedText>("sweep", "meshwright sweep start|rerun|cancel --format json");
  files.Add<SweepListText>("sweep_list", "meshwright sweep list --format json");
  files.Add<ShownSweepText>("sweep_show", "meshwright sweep show --format json");
  files.Add<EventText>("sweep_watch", "meshwright sweep watch --format json, one object a line");
  files.Add<DeletedText>("sweep_delete", "meshwright sweep delete --format json");
  files.Add<AskText>("sweep_ask", "meshwright sweep ask --format json");
  files.Add<TellText>("sweep_tell", "meshwright sweep tell --format json");
  files.Add<SweepPlanText>("sweep_plan", "meshwright sweep plan --format json");
  files.Add<WhyText>("sweep_why", "meshwright sweep show --why --format json");
  files.Add<SweepComparison>("sweep_compare", "meshwright sweep compare --format json");
  files.Add<HistoryText>("history", "meshwright history --format json");
  files.Add<ImportText>("history_import", "meshwright history import --format json");
}

void AddMeasurements(FilesWriter& files) {
  files.AddPart<planner::Calibration>();
  files.AddPart<planner::LinkProfile>();
  files.AddPart<planner::ClusterSpec>();
  files.AddPart<planner::UnreadableRow>();
  files.AddPart<planner::Refusal>();
  files.AddCommand<LocalTrialText>("trial");
  files.AddCommand<BenchmarkText>("benchmark");
  files.AddCommand<CalibrationText>("calibrate");
  files.AddCommand<planner::ValidationText>("validate");
  files.AddCommand<planner::ReplayText>("replay");
}

void AddOthers(FilesWriter& files) {
  files.Add<ErrorText>("error", "What any command prints with --format json where it fails");
  files.Add<PresetListText>("list", "meshwright list models|clusters|profiles --format json");
  files.Add<AgentListText>("list_agents", "meshwright list agents --format json");
  files.Add<DecidedText>("agents_drain", "meshwright agents drain and agents resume --format json");
  files.Add<StandingText>("standby_show", "meshwright standby show --format json");
  files.Add<TakenOverText>("standby_take_over", "meshwright standby take-over --format json");
  files.AddCommand<planner::ScheduleAnswer>("schedule");
  files.AddCommand<planner::ExportAnswer>("export");
  files.AddCommand<planner::ImportAnswer>("import");
  files.AddCommand<DoctorText>("doctor");
  files.AddUnversioned<StoreCheckText>("db_check", "meshwright db check --format json");
  files.Add<BackUpText>("db_backup", "meshwright db backup --format json");
  files.Add<CompactText>("db_compact", "meshwright db compact --format json");
  files.Add<NewTokenText>("token", "meshwright token create --format json");
  files.Add<TokenListText>("token_list", "meshwright token list --format json");
  files.Add<RevokedText>("token_revoke", "meshwright token revoke --format json");
}

}  // namespace

SchemaFiles WriteSchemaFiles() {
  FilesWriter files;
  AddAnswers(files);
  AddSweeps(files);
  AddMeasurements(files);
  AddOthers(files);
  return files.Take();
}

}  // namespace meshwright::cli
