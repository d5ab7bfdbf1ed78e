// Reads a file of a framework's configuration: by its content where that is clear, otherwise by its
// name or the framework's own syntax.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "planner/interchange/config_entry.h"
#include "planner/interchange/framework.h"

namespace meshwright::planner {

// Returns the entries of the file. Files that it writes go to `documents`. Returns InvalidArgument
// for a file that is no text, such as a checkpoint's pickle, which is never read.
absl::StatusOr<std::vector<ConfigEntry>> ReadConfigFile(const Framework& framework,
                                                        const ConfigFile& file,
                                                        const Variables& environment,
                                                        std::vector<ConfigFile>& documents);

// Returns the framework whose own words the files have. Returns InvalidArgument about `from` if
// they have those of none or of several.
absl::StatusOr<const Framework*> FrameworkOfFiles(const std::vector<ConfigFile>& files);

}  // namespace meshwright::planner
