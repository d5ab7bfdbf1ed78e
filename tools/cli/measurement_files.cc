#include "tools/cli/measurement_files.h"

#include <utility>

#include "planner/catalog/catalog.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/flags.h"

namespace meshwright {

absl::StatusOr<std::vector<Measurement>> ReadMeasurementFiles(
    CommandFiles& files, const std::vector<std::string>& paths) {
  std::vector<Measurement> all;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string text, files.Read("measurements", path));
    if (text.empty()) return FieldError("measurements", path, "is an empty file");
    absl::StatusOr<std::vector<Measurement>> rows = ParseMeasurements(text);
    if (!rows.ok()) return FieldError("measurements", path, std::string(rows.status().message()));
    for (Measurement& row : *rows) {
      row.file = path;
      all.push_back(std::move(row));
    }
  }
  return all;
}

absl::StatusOr<ClusterSpec> ReadCluster(CommandFiles& files, const std::string& name_or_file,
                                        int32_t host_cores) {
  ASSIGN_OR_RETURN(const SpecSource source, ReadSpecSource(files, "cluster", name_or_file));
  return ResolveCluster(source, host_cores);
}

absl::StatusOr<FrameworkProfile> ReadFramework(CommandFiles& files,
                                               const std::string& name_or_file) {
  ASSIGN_OR_RETURN(const SpecSource source, ReadSpecSource(files, "framework", name_or_file));
  return source.json.empty() ? FindProfile(source.name) : ProfileFromJson(source.json);
}

}  // namespace meshwright
