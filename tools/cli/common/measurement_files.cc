#include "tools/cli/common/measurement_files.h"

#include <algorithm>
#include <utility>

#include "nlohmann/json.hpp"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/codec/json_text.h"
#include "tools/cli/common/flags.h"

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

absl::StatusOr<planner::ClusterSpec> ReadCluster(CommandFiles& files,
                                                 const std::string& name_or_file,
                                                 int32_t host_cores) {
  ASSIGN_OR_RETURN(const planner::SpecSource source,
                   ReadSpecSource(files, "cluster", name_or_file));
  return planner::ResolveCluster(source, host_cores);
}

absl::StatusOr<planner::FrameworkProfile> ReadFramework(CommandFiles& files,
                                                        const std::string& name_or_file) {
  ASSIGN_OR_RETURN(const planner::SpecSource source,
                   ReadSpecSource(files, "framework", name_or_file));
  return source.json.empty() ? planner::FindProfile(source.name)
                             : planner::ProfileFromJson(source.json);
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

// Only clusters have a device.
bool IsCluster(const std::string& text) {
  const auto object = planner::ParseJson("presets", text, planner::kMaxSpecBytes);
  return object.ok() && object->is_object() && object->contains("device");
}

}  // namespace

absl::StatusOr<planner::MeasurementPresets> ReadPresets(CommandFiles& files,
                                                        const std::vector<std::string>& paths,
                                                        int32_t host_cores) {
  ASSIGN_OR_RETURN(planner::MeasurementPresets presets,
                   planner::LoadMeasurementPresets(host_cores));
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string text, files.Read("presets", path));
    if (IsCluster(text)) {
      ASSIGN_OR_RETURN(planner::ClusterSpec cluster, planner::ClusterFromJson(text, host_cores));
      Replace(std::move(cluster), presets.clusters);
    } else {
      ASSIGN_OR_RETURN(planner::FrameworkProfile profile, planner::ProfileFromJson(text));
      Replace(std::move(profile), presets.profiles);
    }
  }
  return presets;
}

}  // namespace meshwright::cli
