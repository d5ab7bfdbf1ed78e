// Files and presets that the commands about measurements read.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/command_files.h"

namespace meshwright {

// All rows of all files, in the order given. InvalidArgument names the file.
absl::StatusOr<std::vector<Measurement>> ReadMeasurementFiles(
    CommandFiles& files, const std::vector<std::string>& paths);

// A preset's name or a file.
absl::StatusOr<ClusterSpec> ReadCluster(CommandFiles& files, const std::string& name_or_file,
                                        int32_t host_cores);
absl::StatusOr<FrameworkProfile> ReadFramework(CommandFiles& files,
                                               const std::string& name_or_file);

}  // namespace meshwright
