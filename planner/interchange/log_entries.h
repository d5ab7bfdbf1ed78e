// Reads the arguments that a framework prints at the start of its training log.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/interchange/config_entry.h"

namespace meshwright::planner {

// Returns whether the text is a log with arguments of one of these frameworks: Megatron-LM's
// listing or the lines of its --use-checkpoint-args, DeepSpeed's print of the user's file,
// torchtitan's of its configuration (--debug.print_config), or TrainingArguments of Hugging Face's
// Trainer.
bool IsTrainingLog(std::string_view text);

// Returns the arguments of all of them, in the order of the log. The other lines of a log are no
// entries. Returns InvalidArgument, which names the file, if a print does not end.
absl::StatusOr<std::vector<ConfigEntry>> ReadLogEntries(const ConfigFile& file);

}  // namespace meshwright::planner
