// Writes the shell script that starts an exported job: a script that starts torchrun on every node,
// one srun line inside a Slurm allocation, or a batch file for sbatch.
//
// Every argument of the job is quoted for the shell. The script writes the job's files.
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
  // The number of nodes whose devices the cluster's scale_up network joins, such as the 18 of an
  // NVL72; 1: it joins no nodes.
  int64_t joined_nodes = 1;
};

// Returns InvalidArgument, which names the placeholder, if the template has an unknown one or lacks
// {command}.
absl::StatusOr<std::string> LaunchScript(const ExportedJob& job, const LaunchRequest& request);

// Returns the text from which a shell reads `word` as one argument: `word` itself, or `word` in
// quotes.
std::string ShellQuoted(std::string_view word);
// Returns ShellQuoted() of all words, separated by blanks.
std::string QuotedWords(const std::vector<std::string>& words);

}  // namespace meshwright::planner
