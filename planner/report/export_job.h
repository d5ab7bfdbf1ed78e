// What is exported, and what the exporters of every framework share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/node_placement.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

struct ExportJob {
  ModelSpec model;
  TrainingSpec training;
  Layout layout;
  int32_t devices_per_node = 8;         // that one torchrun can start processes on
  std::vector<std::string> notes = {};  // for the reader, written as comments
};

// Nodes and processes that torchrun is told of. The last node may have fewer than the others:
// torchrun counts each node's own --nproc-per-node.
NodePlacement PlacementOf(const ExportJob& job);

// Each as a line "# ...".
std::string CommentLines(const std::vector<std::string>& comments);

// What cannot be exported: `part` of the layout, such as "sched=zb_v".
absl::Status CannotExport(std::string_view part, std::string_view problem);

}  // namespace meshwright::planner
