// ExportJob is the input of an exporter. This file also declares the exporter of each framework,
// among which planner/report/export.h chooses, and the helpers that exporters share.
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
  int32_t devices_per_node = 8;         // the most processes that one torchrun starts
  std::vector<std::string> notes = {};  // for the reader, written as comments
};

// Returns a shell script that starts Megatron-LM's pretrain_gpt.py, or pretrain_hybrid.py for a
// hybrid. Flags are as in megatron/training/arguments.py of Megatron-Core 0.20. For models without
// a recurrence, sparse attention or YaRN they are in 0.14 too. The script passes its own arguments
// on, because the user chooses data, tokenizer, learning rate and checkpoints. Returns
// InvalidArgument if Megatron-LM lacks what the job uses, such as its schedule. REQUIRES: the
// model, the training and
// `devices_per_node` passed the checks of Export().
absl::StatusOr<std::string> ExportMegatron(const ExportJob& job);

// Returns a configuration file of torchtitan, with keys as in torchtitan/config/job_config.py of
// the releases that read TOML (0.2); later releases moved to Python, with the same names. Returns
// InvalidArgument if torchtitan lacks what the job uses. Torchtitan lacks, among others, ZeRO-1,
// recompute of only some layers, tensor parallelism without sequence parallelism, zb_h1, and
// replicated data parallelism combined with other axes.
// REQUIRES: the model, the training and `devices_per_node` passed the checks of Export().
absl::StatusOr<std::string> ExportTorchtitan(const ExportJob& job);

// Returns the nodes and processes for torchrun. The last node may have fewer processes than the
// others: torchrun takes --nproc-per-node on each node separately.
NodePlacement PlacementOf(const ExportJob& job);

// Returns each comment as a line "# ...".
std::string CommentLines(const std::vector<std::string>& comments);

// Returns the error for a part of the layout that cannot be exported, such as "sched=zb_v".
absl::Status CannotExport(std::string_view part, std::string_view problem);

}  // namespace meshwright::planner
