// Writes the command line with which Megatron-LM runs a layout.
#pragma once

#include "absl/status/statusor.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/exported_job.h"
#include "planner/interchange/settings.h"

namespace meshwright::planner {

// Returns the command that starts Megatron-LM's pretrain_gpt.py, or pretrain_hybrid.py for a
// hybrid. Megatron-Core 0.14 also has these flags, except those for recurrences, sparse attention
// and YaRN. The user adds the flags for data, tokenizer, learning rate and checkpoints. Returns
// InvalidArgument if Megatron-LM has no flag for a part of the model. REQUIRES: PrepareMegatron()
// made the settings.
absl::StatusOr<ExportedJob> ExportMegatron(const ExportJob& job, const Settings& settings);

}  // namespace meshwright::planner
