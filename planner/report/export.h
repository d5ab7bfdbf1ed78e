// A layout as the user's own framework launches it: flags for Megatron-LM, a TOML file for
// torchtitan.
//
// The text says in a comment where the framework only comes near to what the estimate is about.
// What it cannot express is InvalidArgument naming the part of the layout, or the key of the
// model's config.json, and what would be accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/node_placement.h"
#include "planner/spec/training_spec.h"

namespace meshwright {

enum class ExportTarget : uint8_t { kMegatron, kTorchtitan };

std::string_view ExportTargetName(ExportTarget target);
absl::StatusOr<ExportTarget> ParseExportTarget(std::string_view text);

struct ExportJob {
  ModelSpec model;
  TrainingSpec training;
  Layout layout;
  int32_t devices_per_node = 8;         // that one torchrun can start processes on
  std::vector<std::string> notes = {};  // for the reader, written as comments
};

// Checks the layout against the model, the batch and what the framework can do, then writes it.
absl::StatusOr<std::string> Export(ExportTarget target, const ExportJob& job);

// Nodes and processes that torchrun is told of. The last node may have fewer than the others:
// torchrun counts each node's own --nproc-per-node.
NodePlacement PlacementOf(const ExportJob& job);

// Each as a line "# ...".
std::string CommentLines(const std::vector<std::string>& comments);

// What cannot be exported: `part` of the layout, such as "sched=zb_v".
absl::Status CannotExport(std::string_view part, std::string_view problem);

}  // namespace meshwright
