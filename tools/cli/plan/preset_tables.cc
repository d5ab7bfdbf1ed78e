#include "tools/cli/plan/preset_tables.h"

#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/plan/preset_fields.h"

namespace meshwright::cli {
namespace {

constexpr const char* kUnknown = "-";

std::string OrUnknown(const std::string& text) { return text.empty() ? kUnknown : text; }

std::string ParameterCell(int64_t count) { return count > 0 ? FormatParameters(count) : kUnknown; }

// A figure is 0 if nobody said it, and below 1 for processes on a processor's cores.
std::string FigureCell(double figure) {
  if (figure <= 0.0) return kUnknown;
  return figure < 10.0 ? absl::StrFormat("%.3g", figure) : FormatCount(std::llround(figure));
}

std::string ErrorCell(const std::optional<double>& error) {
  return error ? FormatPercent(*error) : kUnknown;
}

// Returns what a preset rests on, such as "48 runs of nemo" for one that has nemo's fit.
std::string EvidenceCell(const std::string& preset, const planner::PresetEvidence& evidence) {
  if (evidence.rows > 0) {
    const bool own = evidence.name.empty() || evidence.name == preset;
    return absl::StrCat("fitted to ", FormatCount(evidence.rows),
                        evidence.rows == 1 ? " run" : " runs", own ? "" : " of ",
                        own ? "" : evidence.name);
  }
  if (evidence.kind == "assumption") return "chosen";
  return OrUnknown(absl::StrReplaceAll(evidence.kind, {{"_", " "}}));
}

std::string ZeroCell(const planner::ProfilePreset& preset) {
  if (preset.axes.empty()) return kUnknown;
  return preset.min_zero == preset.max_zero ? absl::StrCat(preset.max_zero)
                                            : absl::StrCat(preset.min_zero, "-", preset.max_zero);
}

Table TableOf(const std::vector<planner::ModelPreset>& presets) {
  Table table({"model", "kind", "parameters", "active", "tower", "mtp", "context", "also"});
  for (const planner::ModelPreset& preset : presets) {
    table.Add({preset.name, OrUnknown(preset.kind), ParameterCell(preset.counts.parameters),
               ParameterCell(preset.counts.active_parameters),
               ParameterCell(preset.counts.tower_parameters),
               ParameterCell(preset.counts.mtp_parameters),
               preset.context_tokens ? FormatCount(*preset.context_tokens) : kUnknown,
               absl::StrJoin(preset.other_names, ", ")});
  }
  return table;
}

Table TableOf(const std::vector<planner::ClusterPreset>& presets) {
  Table table({"cluster", "device", "per node", "GiB", "memory GB/s", "16-bit TFLOP/s",
               "GB/s in a node", "GB/s between", "evidence", "error", "based on", "also"});
  for (const planner::ClusterPreset& preset : presets) {
    table.Add({preset.name, OrUnknown(preset.device),
               FigureCell(static_cast<double>(preset.devices_per_node)),
               preset.memory_bytes > 0 ? FormatGib(preset.memory_bytes) : kUnknown,
               FigureCell(preset.memory_bytes_per_s / 1e9),
               FigureCell(preset.peak_half_flops / 1e12),
               FigureCell(preset.scale_up_bytes_per_s / 1e9),
               FigureCell(preset.scale_out_bytes_per_s / 1e9),
               EvidenceCell(preset.name, preset.evidence), ErrorCell(preset.median_error),
               OrUnknown(preset.based_on), absl::StrJoin(preset.other_names, ", ")});
  }
  return table;
}

Table TableOf(const std::vector<planner::ProfilePreset>& presets) {
  Table table({"profile", "framework", "axes", "zero", "schedules", "evidence", "error", "based on",
               "also"});
  for (const planner::ProfilePreset& preset : presets) {
    table.Add({preset.name, OrUnknown(preset.framework), OrUnknown(absl::StrJoin(preset.axes, " ")),
               ZeroCell(preset), OrUnknown(absl::StrJoin(preset.schedules, " ")),
               EvidenceCell(preset.name, preset.evidence), ErrorCell(preset.median_error),
               OrUnknown(preset.based_on), absl::StrJoin(preset.other_names, ", ")});
  }
  return table;
}

// Prints the presets as a table, or as the members of a PresetListText that are theirs.
template <typename Preset>
void PrintPresets(const std::vector<Preset>& presets, OutputFormat format,
                  std::optional<std::vector<std::string>> PresetListText::*names,
                  std::optional<std::vector<Preset>> PresetListText::*described,
                  std::ostream& out) {
  if (format != OutputFormat::kJson) {
    TableOf(presets).Print(out);
    return;
  }
  PresetListText list;
  (list.*names).emplace();
  for (const Preset& preset : presets) (list.*names)->push_back(preset.name);
  list.*described = presets;
  PrintJson(planner::WriteOrderedJson(list), out);
}

}  // namespace

void PrintModelPresets(const std::vector<planner::ModelPreset>& presets, OutputFormat format,
                       std::ostream& out) {
  PrintPresets(presets, format, &PresetListText::models, &PresetListText::model_presets, out);
}

void PrintClusterPresets(const std::vector<planner::ClusterPreset>& presets, OutputFormat format,
                         std::ostream& out) {
  PrintPresets(presets, format, &PresetListText::clusters, &PresetListText::cluster_presets, out);
}

void PrintProfilePresets(const std::vector<planner::ProfilePreset>& presets, OutputFormat format,
                         std::ostream& out) {
  PrintPresets(presets, format, &PresetListText::profiles, &PresetListText::profile_presets, out);
}

}  // namespace meshwright::cli
