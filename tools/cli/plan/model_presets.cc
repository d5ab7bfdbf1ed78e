#include "tools/cli/plan/model_presets.h"

#include <string>

#include "absl/strings/str_join.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/plan/preset_fields.h"

namespace meshwright::cli {
namespace {

constexpr const char* kUnknown = "-";

std::string Parameters(int64_t count) { return count > 0 ? FormatParameters(count) : kUnknown; }

}  // namespace

void PrintModelPresets(const std::vector<planner::ModelPreset>& presets, OutputFormat format,
                       std::ostream& out) {
  if (format == OutputFormat::kJson) {
    PresetListText list;
    list.models.emplace();
    for (const planner::ModelPreset& preset : presets) list.models->push_back(preset.name);
    list.model_presets = presets;
    PrintJson(planner::WriteOrderedJson(list), out);
    return;
  }
  Table table({"model", "kind", "parameters", "active", "tower", "mtp", "context", "also"});
  for (const planner::ModelPreset& preset : presets) {
    table.Add({preset.name, preset.kind.empty() ? kUnknown : preset.kind,
               Parameters(preset.counts.parameters), Parameters(preset.counts.active_parameters),
               Parameters(preset.counts.tower_parameters), Parameters(preset.counts.mtp_parameters),
               preset.context_tokens ? FormatCount(*preset.context_tokens) : kUnknown,
               absl::StrJoin(preset.other_names, ", ")});
  }
  table.Print(out);
}

}  // namespace meshwright::cli
