// Exports a layout as a shell script that starts Megatron-LM's pretrain_gpt.py.
//
// Flags as in megatron/training/arguments.py of Megatron-Core 0.14. Data, tokenizer, learning rate
// and checkpoints are the user's: the script passes its arguments on.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "planner/report/export_job.h"

namespace meshwright::planner {

// Requires the checks of Export(). InvalidArgument for a schedule that Megatron-LM does not have.
absl::StatusOr<std::string> ExportMegatron(const ExportJob& job);

}  // namespace meshwright::planner
