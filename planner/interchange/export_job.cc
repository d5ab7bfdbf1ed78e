#include "planner/interchange/export_job.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"

namespace meshwright::planner {

NodePlacement PlacementOf(const ExportJob& job) {
  return FillNodes(job.layout.devices(), job.devices_per_node);
}

std::string TorchrunLines(const NodePlacement& placed) {
  const std::string start =
      placed.fills_last()
          ? absl::StrFormat("torchrun --nnodes %d --nproc-per-node %d", placed.nodes,
                            placed.per_node)
          : absl::StrFormat(
                "# The last of %d nodes runs fewer processes; every node needs its NODE_RANK.\n"
                "processes=%d\nif [ \"${NODE_RANK:-0}\" -eq %d ]; then processes=%d; fi\n"
                "torchrun --nnodes %d --nproc-per-node \"$processes\"",
                placed.nodes, placed.per_node, placed.nodes - 1, placed.on_last, placed.nodes);
  return absl::StrCat(start,
                      " \\\n  --node-rank \"${NODE_RANK:-0}\" --master-addr "
                      "\"${MASTER_ADDR:-localhost}\" --master-port \"${MASTER_PORT:-29500}\" \\\n");
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
