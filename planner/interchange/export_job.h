// ExportJob is the input of an export (planner/interchange/export.h). This file also declares the
// helpers that the writers of all frameworks share.
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
  int32_t devices_per_node = 8;         // the most processes that one torchrun starts
  std::vector<std::string> notes = {};  // for the reader, written as comments
};

// Returns the nodes and processes for torchrun. The last node may have fewer processes than the
// others: torchrun takes --nproc-per-node on each node separately.
NodePlacement PlacementOf(const ExportJob& job);

// Returns each comment as a line "# ...".
std::string CommentLines(const std::vector<std::string>& comments);

// Returns the error for a part of the layout that cannot be exported, such as "sched=zb_v".
absl::Status CannotExport(std::string_view part, std::string_view problem);

}  // namespace meshwright::planner
