// Reads the arguments that a framework prints at the start of its training log.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/interchange/config_entry.h"

namespace meshwright::planner {

// Returns whether the text is a log that contains one of these listings: (1) Megatron-LM's
// arguments, or the lines that its --use-checkpoint-args prints, (2) the user's file as DeepSpeed
// prints it, (3) torchtitan's configuration (--debug.print_config), or (4) the TrainingArguments of
// Hugging Face's Trainer.
bool IsTrainingLog(std::string_view text);

// Returns the arguments of all these listings, in the order of the log, and skips the other lines.
// Returns InvalidArgument, which names the file, if a listing does not end.
absl::StatusOr<std::vector<ConfigEntry>> ReadLogEntries(const ConfigFile& file);

}  // namespace meshwright::planner
