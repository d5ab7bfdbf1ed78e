#include "tools/cli/common/measurement_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "tools/cli/common/spec_source.h"

namespace meshwright::cli {

absl::StatusOr<std::vector<planner::Measurement>> ReadMeasurementFiles(
    CommandFiles& files, const std::vector<std::string>& paths) {
  std::vector<planner::Measurement> all;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string text, files.Read("measurements", path));
    if (text.empty()) return FieldError("measurements", path, "is an empty file");
    absl::StatusOr<std::vector<planner::Measurement>> rows = planner::ParseMeasurements(text);
    if (!rows.ok()) return FieldError("measurements", path, std::string(rows.status().message()));
    planner::FillShapes(*rows);
    for (planner::Measurement& row : *rows) {
      row.file = path;
      all.push_back(std::move(row));
    }
  }
  return all;
}

namespace {

template <typename Spec>
void Replace(Spec spec, std::vector<Spec>& presets) {
  const auto same = std::find_if(presets.begin(), presets.end(),
                                 [&spec](const Spec& preset) { return preset.name == spec.name; });
  if (same == presets.end()) {
    presets.push_back(std::move(spec));
  } else {
    *same = std::move(spec);
  }
}

// Only clusters have a device or links; one that is based on another may have only some of these
// keys.
bool IsCluster(const nlohmann::json& object) {
  constexpr const char* kKeys[] = {"device", "devices_per_node", "scale_up", "scale_out",
                                   "gpu_names"};
  return std::any_of(std::begin(kKeys), std::end(kKeys),
                     [&object](const char* key) { return object.contains(key); });
}

absl::StatusOr<std::string> Copied(absl::StatusOr<std::string_view> text) {
  if (!text.ok()) return text.status();
  return std::string(*text);
}

}  // namespace

PresetFiles::File PresetFiles::Describe(std::string text) {
  File file;
  const auto object = ParseJson("presets", text, kMaxSpecBytes);
  if (object.ok() && object->is_object()) {
    file.is_cluster = IsCluster(*object);
    const auto name = object->find("name");
    if (name != object->end() && name->is_string()) file.name = *name;
  }
  file.text = std::move(text);
  return file;
}

std::optional<std::vector<planner::RowPrediction>> PredictRows(
    const std::vector<planner::Measurement>& measured, const planner::MeasurementPresets& presets,
    const StopRequest& stop) {
  std::vector<planner::RowPrediction> rows;
  for (const planner::Measurement& measurement : measured) {
    if (stop.Requested()) return std::nullopt;
    rows.push_back(planner::PredictRow(static_cast<int64_t>(rows.size()), measurement, presets));
  }
  return rows;
}

absl::StatusOr<PresetFiles> PresetFiles::Read(CommandFiles& files,
                                              const std::vector<std::string>& paths) {
  PresetFiles presets;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(std::string text, files.Read("presets", path));
    presets.files_.push_back(Describe(std::move(text)));
  }
  return presets;
}

const PresetFiles::File* PresetFiles::Find(bool is_cluster, std::string_view name) const {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const File& file) {
    return file.is_cluster == is_cluster && file.name == name;
  });
  return found == files_.end() ? nullptr : &*found;
}

absl::StatusOr<std::string> PresetFiles::ClusterTextOf(std::string_view name) const {
  const File* file = Find(/*is_cluster=*/true, name);
  return file != nullptr ? file->text : Copied(planner::ClusterText(name));
}

absl::StatusOr<std::string> PresetFiles::ProfileTextOf(std::string_view name) const {
  const File* file = Find(/*is_cluster=*/false, name);
  return file != nullptr ? file->text : Copied(planner::ProfileText(name));
}

absl::StatusOr<planner::ClusterSpec> PresetFiles::ClusterOf(const std::string& text,
                                                            int32_t host_cores) const {
  return planner::ClusterFromJson(text, host_cores,
                                  [this](std::string_view name) { return ClusterTextOf(name); });
}

absl::StatusOr<planner::FrameworkProfile> PresetFiles::ProfileOf(const std::string& text) const {
  return planner::ProfileFromJson(text,
                                  [this](std::string_view name) { return ProfileTextOf(name); });
}

absl::StatusOr<planner::MeasurementPresets> PresetFiles::All(int32_t host_cores) const {
  ASSIGN_OR_RETURN(planner::MeasurementPresets presets,
                   planner::LoadMeasurementPresets(host_cores));
  for (const File& file : files_) {
    if (file.is_cluster) {
      ASSIGN_OR_RETURN(planner::ClusterSpec cluster, ClusterOf(file.text, host_cores));
      Replace(std::move(cluster), presets.clusters);
    } else {
      ASSIGN_OR_RETURN(planner::FrameworkProfile profile, ProfileOf(file.text));
      Replace(std::move(profile), presets.profiles);
    }
  }
  return presets;
}

absl::StatusOr<planner::ClusterSpec> PresetFiles::Cluster(CommandFiles& files,
                                                          const std::string& name_or_file,
                                                          int32_t host_cores) const {
  ASSIGN_OR_RETURN(const planner::SpecSource source,
                   ReadSpecSource(files, "cluster", name_or_file));
  return source.json.empty() ? planner::FindCluster(source.name, host_cores)
                             : ClusterOf(source.json, host_cores);
}

absl::StatusOr<planner::FrameworkProfile> PresetFiles::Framework(
    CommandFiles& files, const std::string& name_or_file) const {
  ASSIGN_OR_RETURN(const planner::SpecSource source,
                   ReadSpecSource(files, "framework", name_or_file));
  return source.json.empty() ? planner::FindProfile(source.name) : ProfileOf(source.json);
}

}  // namespace meshwright::cli
