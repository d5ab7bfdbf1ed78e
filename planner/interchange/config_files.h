// Reads a file of a framework's configuration. The content decides which syntax the file has; where
// the content is not clear, the file's name or the framework's own syntax decides.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "planner/interchange/config_entry.h"
#include "planner/interchange/framework.h"

namespace meshwright::planner {

// Returns the entries of the file. If it is a script, the files that the script writes go to
// `documents`. Returns InvalidArgument for a file that is not text, such as a checkpoint's pickle,
// which is never read.
absl::StatusOr<std::vector<ConfigEntry>> ReadConfigFile(const Framework& framework,
                                                        const ConfigFile& file,
                                                        const Variables& environment,
                                                        std::vector<ConfigFile>& documents);

// Returns the framework of the files, which it recognises by words that only files of that
// framework contain. Returns InvalidArgument about `from` if the files contain such words of no
// framework or of several.
absl::StatusOr<const Framework*> FrameworkOfFiles(const std::vector<ConfigFile>& files);

}  // namespace meshwright::planner
