// Says how Megatron-LM runs a layout.
#pragma once

#include "absl/status/statusor.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/exported_job.h"
#include "planner/interchange/settings.h"

namespace meshwright::planner {

// Returns the words that start Megatron-LM's pretrain_gpt.py, or pretrain_hybrid.py for a
// hybrid. For models without a recurrence, sparse attention or YaRN its flags are in Megatron-Core
// 0.14 too. The user adds data, tokenizer, learning rate and checkpoints. Returns InvalidArgument
// if Megatron-LM has no flag for a part of the model. REQUIRES: PrepareMegatron() made the
// settings.
absl::StatusOr<ExportedJob> ExportMegatron(const ExportJob& job, const Settings& settings);

}  // namespace meshwright::planner
