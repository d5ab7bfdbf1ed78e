#include "tests/tools/schema/schema_files.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/tools/schema/answer_parts.h"

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
  files.AddCommand<RecommendText>("recommend");
  files.AddCommand<EstimateText>("estimate");
  files.AddCommand<CompareText>("compare");
  files.AddCommand<ScaleText>("scale");
  files.AddCommand<StudyText>("study");
  files.AddCommand<FastestText>("fastest");
  files.AddCommand<FitText>("fit");
}

}  // namespace

SchemaFiles WriteSchemaFiles() {
  FilesWriter files;
  AddAnswers(files);
  return files.Take();
}

}  // namespace meshwright::cli
