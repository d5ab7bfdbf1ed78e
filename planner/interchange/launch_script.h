// Writes the shell script that starts an exported job: torchrun's on every node, one srun line of
// an allocation of Slurm, or a batch file for sbatch.
//
// Every word of the job is quoted for the shell. Files of the job are written by the script.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/interchange/exported_job.h"

namespace meshwright::planner {

enum class LaunchForm : uint8_t { kTorchrun, kSrun, kSbatch };
inline constexpr EnumNames<LaunchForm, 3> kLaunchFormNames = {{
    {LaunchForm::kTorchrun, "torchrun"},
    {LaunchForm::kSrun, "srun"},
    {LaunchForm::kSbatch, "sbatch"},
}};

struct LaunchRequest {
  LaunchForm form = LaunchForm::kTorchrun;
  // Text of the batch file, with placeholders. Empty: planner/data/launch/sbatch.sh.
  std::string batch_template = {};
  // Nodes whose devices scale_up joins, such as the 18 of an NVL72; 1: no nodes are joined.
  int64_t joined_nodes = 1;
};

// Returns InvalidArgument, which names the placeholder, if the template has an unknown one or lacks
// {command}.
absl::StatusOr<std::string> LaunchScript(const ExportedJob& job, const LaunchRequest& request);

// Returns the word as the shell reads it back: as it is, or in quotes.
std::string ShellQuoted(std::string_view word);
// Returns the words so, with blanks between them.
std::string QuotedWords(const std::vector<std::string>& words);

}  // namespace meshwright::planner
