// Files and presets that the commands about measurements read.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

// All rows of all files, in the order given. InvalidArgument names the file.
absl::StatusOr<std::vector<planner::Measurement>> ReadMeasurementFiles(
    CommandFiles& files, const std::vector<std::string>& paths);

// A preset's name or a file.
absl::StatusOr<planner::ClusterSpec> ReadCluster(CommandFiles& files,
                                                 const std::string& name_or_file,
                                                 int32_t host_cores);
absl::StatusOr<planner::FrameworkProfile> ReadFramework(CommandFiles& files,
                                                        const std::string& name_or_file);

// The presets that rows are matched against: all that are compiled in, but for those whose names
// the clusters and framework profiles in `paths` have; these take their places.
absl::StatusOr<planner::MeasurementPresets> ReadPresets(CommandFiles& files,
                                                        const std::vector<std::string>& paths,
                                                        int32_t host_cores);

}  // namespace meshwright::cli
