#include "planner/interchange/export_job.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"

namespace meshwright::planner {

NodePlacement PlacementOf(const ExportJob& job) {
  return FillNodes(job.layout.devices(), job.devices_per_node);
}

std::string CommentLines(const std::vector<std::string>& comments) {
  std::string lines;
  for (const std::string& comment : comments)
    absl::StrAppend(&lines, "# ", EscapeControls(comment), "\n");
  return lines;
}

absl::Status CannotExport(std::string_view part, std::string_view problem) {
  return FieldError("layout", part, problem);
}

}  // namespace meshwright::planner
