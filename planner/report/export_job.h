// ExportJob is what an exporter writes. Below it stand the exporters of all frameworks, for
// planner/report/export.h, and the helpers that they share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/node_placement.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

struct ExportJob {
  ModelSpec model;
  TrainingSpec training;
  Layout layout;
  int32_t devices_per_node = 8;         // those that one torchrun can start processes on
  std::vector<std::string> notes = {};  // for the reader, written as comments
};

// Returns a shell script that starts Megatron-LM's pretrain_gpt.py, with flags as in
// megatron/training/arguments.py of Megatron-Core 0.14. Data, tokenizer, learning rate and
// checkpoints are the user's: the script passes its arguments on. Requires the checks of Export().
// InvalidArgument for a schedule that Megatron-LM does not have.
absl::StatusOr<std::string> ExportMegatron(const ExportJob& job);

// Returns a configuration file of torchtitan, with keys as in torchtitan/config/job_config.py of
// the releases that read TOML (0.2); later releases moved to Python, with the same names. Requires
// the checks of Export(). InvalidArgument for ZeRO-1, block recompute, tensor parallel without
// sequence parallel, zb_h1, and replicated data parallel combined with other axes: torchtitan has
// none of them.
absl::StatusOr<std::string> ExportTorchtitan(const ExportJob& job);

// Returns the nodes and processes for torchrun. The last node may have fewer processes than the
// others: torchrun takes --nproc-per-node on each node separately.
NodePlacement PlacementOf(const ExportJob& job);

// Returns each comment as a line "# ...".
std::string CommentLines(const std::vector<std::string>& comments);

// Returns the error for a part of the layout that cannot be exported, such as "sched=zb_v".
absl::Status CannotExport(std::string_view part, std::string_view problem);

}  // namespace meshwright::planner
