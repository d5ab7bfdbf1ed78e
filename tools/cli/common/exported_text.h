// ExportAs() exports a job for a framework, as commands print it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "planner/interchange/export.h"
#include "planner/interchange/launch_script.h"
#include "tools/cli/common/export_fields.h"

namespace meshwright::cli {

// `to` names the framework. `with_launch` says that the text is the launch script even if the
// framework's export is a file of its own. Returns InvalidArgument for an unknown framework and for
// a job that the framework can't express.
absl::StatusOr<ExportText> ExportAs(const std::string& to, const planner::ExportJob& job,
                                    const planner::LaunchRequest& launch, bool with_launch);

}  // namespace meshwright::cli
