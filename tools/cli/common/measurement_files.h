// These functions read measured runs and presets from files and predict the runs, for the commands
// validate, calibrate and replay.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/measurement/row_prediction.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

// Returns all rows of all files, in the order given. Returns InvalidArgument, with the path, if a
// file can't be read.
absl::StatusOr<std::vector<planner::Measurement>> ReadMeasurementFiles(
    CommandFiles& files, const std::vector<std::string>& paths);

// Returns the planner's prediction of each row; rows are numbered from 0. Returns nullopt if a stop
// is requested before the end.
std::optional<std::vector<planner::RowPrediction>> PredictRows(
    const std::vector<planner::Measurement>& measured, const planner::MeasurementPresets& presets,
    const StopRequest& stop);

// PresetFiles holds the clusters and framework profiles of the files that --presets names.
class PresetFiles {
 public:
  static absl::StatusOr<PresetFiles> Read(CommandFiles& files,
                                          const std::vector<std::string>& paths);

  // Returns the presets against which rows are matched: the built-in ones and these files. A file
  // replaces the built-in preset of its name.
  absl::StatusOr<planner::MeasurementPresets> All(int32_t host_cores) const;

  // Both functions return the built-in preset of this name, or the spec in this file. The file may
  // be based on one of the files of --presets.
  absl::StatusOr<planner::ClusterSpec> Cluster(CommandFiles& files, const std::string& name_or_file,
                                               int32_t host_cores) const;
  absl::StatusOr<planner::FrameworkProfile> Framework(CommandFiles& files,
                                                      const std::string& name_or_file) const;

 private:
  // A file's text, and the facts that decide how to parse it.
  struct File {
    std::string text;
    std::string name;
    bool is_cluster = false;
  };

  static File Describe(std::string text);
  // Both functions return the text of the file whose spec has this name or, if there is no such
  // file, the text of the built-in preset.
  absl::StatusOr<std::string> ClusterTextOf(std::string_view name) const;
  absl::StatusOr<std::string> ProfileTextOf(std::string_view name) const;
  const File* Find(bool is_cluster, std::string_view name) const;
  absl::StatusOr<planner::ClusterSpec> ClusterOf(const std::string& text, int32_t host_cores) const;
  absl::StatusOr<planner::FrameworkProfile> ProfileOf(const std::string& text) const;

  std::vector<File> files_;
};

}  // namespace meshwright::cli
