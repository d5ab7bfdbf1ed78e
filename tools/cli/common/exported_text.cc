#include "tools/cli/common/exported_text.h"

#include <utility>

#include "base/text/status_macros.h"

namespace meshwright::cli {

absl::StatusOr<ExportText> ExportAs(const std::string& to, const planner::ExportJob& job,
                                    const planner::LaunchRequest& launch, bool with_launch) {
  ASSIGN_OR_RETURN(const planner::ExportTarget target, planner::ParseExportTarget(to));
  ExportText text;
  text.to = to;
  text.job = job;
  text.launch = std::string(NameOf(planner::kLaunchFormNames, launch.form));
  ASSIGN_OR_RETURN(text.exported, planner::MakeExportedJob(target, job));
  ASSIGN_OR_RETURN(text.script, planner::LaunchScript(text.exported, launch));
  const bool is_file = text.exported.is_file && !with_launch;
  text.text = is_file ? text.exported.files.front().text : text.script;
  return text;
}

}  // namespace meshwright::cli
