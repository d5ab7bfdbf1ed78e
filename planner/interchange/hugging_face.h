// What exports to Hugging Face's stack have in common: accelerate's FSDP2 and DeepSpeed.
#pragma once

#include "absl/status/status.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/settings.h"

namespace meshwright::planner {

// Returns InvalidArgument if the Trainer can't have the job's kernels: Liger's fuse the loss and the
// norms together.
absl::Status CheckTrainer(const ExportJob& job);

// Turns Liger's kernels into the loss and the norms, after an import.
absl::Status ResolveTrainer(Settings& settings);

}  // namespace meshwright::planner
