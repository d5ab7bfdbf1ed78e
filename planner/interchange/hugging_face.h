// What exports to Hugging Face's stack have in common: accelerate's FSDP2 and DeepSpeed.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/settings.h"

namespace meshwright::planner {

// The Trainer's names of optimizers (transformers/training_args.py, OptimizerNames), as the text of
// NameRow::words.
inline constexpr std::string_view kTrainerOptimizers =
    "adamw=adamw_torch adamw=adamw_torch_fused adamw=adamw_hf sgd adafactor lion=lion_32bit "
    "paged-adamw=paged_adamw_32bit";

// Returns InvalidArgument if the Trainer can't run the job's kernels: it fuses the loss and the
// norms only together, with Liger's kernels.
absl::Status CheckTrainer(const ExportJob& job);

// Changes the settings of a job to what accelerate's FSDP2 has. Returns InvalidArgument for what it
// lacks.
absl::Status PrepareFsdp2(const ExportJob& job, Settings& settings);

// Does the same for DeepSpeed under the Trainer.
absl::Status PrepareDeepspeed(const ExportJob& job, Settings& settings);

// After an import, sets the loss and the norms to fused if the Trainer uses Liger's kernels, and
// the targets of an adapter to PEFT's default if the file has none.
absl::Status ResolveTrainer(Settings& settings);

}  // namespace meshwright::planner
