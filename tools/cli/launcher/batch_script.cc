#include "tools/cli/launcher/batch_script.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/launcher/shell_words.h"

namespace meshwright::cli {
namespace {

// Lines that begin with #SBATCH are read by sbatch and by no shell: names that would need quotes
// are refused.
absl::Status CheckSlurmName(std::string_view field, const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::string_view("._,+@-").find(c) != absl::string_view::npos;
  });
  if (plain && !name.starts_with('-')) return absl::OkStatus();
  return FieldError(field, name, "must be letters, digits and ._,+@- and not begin with -");
}

bool IsShortNumber(absl::string_view text) {
  return !text.empty() && text.size() <= 6 &&
         std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

bool IsTimeLimit(absl::string_view text) {
  const std::vector<absl::string_view> days = absl::StrSplit(text, absl::MaxSplits('-', 1));
  const std::vector<absl::string_view> parts = absl::StrSplit(days.back(), ':');
  const bool minutes_alone = days.size() == 1 && parts.size() == 1;
  return (minutes_alone || parts.size() == 3) &&
         IsShortNumber(days.front().substr(0, days.front().find(':'))) &&
         std::all_of(parts.begin(), parts.end(), IsShortNumber);
}

}  // namespace

absl::Status Check(const SlurmJobFlags& flags) {
  RETURN_IF_ERROR(CheckSlurmName("partition", flags.partition));
  RETURN_IF_ERROR(CheckSlurmName("account", flags.account));
  if (flags.time_limit.empty() || IsTimeLimit(flags.time_limit)) return absl::OkStatus();
  return FieldError("time", flags.time_limit, "must be minutes, HH:MM:SS or D-HH:MM:SS");
}

std::string BatchScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, std::string_view agent) {
  std::string script = "#!/bin/sh\n";
  const auto add = [&script](absl::string_view flag, absl::string_view value) {
    if (!value.empty()) absl::StrAppend(&script, "#SBATCH --", flag, "=", value, "\n");
  };
  add("job-name", AbslView(agent));
  add("nodes", "1");
  add("ntasks", "1");
  script += "#SBATCH --exclusive\n";
  add("mem", "0");  // all that the node has
  if (fleet.gpus_per_node > 0) add("gpus-per-node", absl::StrCat(fleet.gpus_per_node));
  script += "#SBATCH --no-requeue\n";
  add("partition", flags.partition);
  add("time", flags.time_limit);
  add("account", flags.account);
  add("comment", flags.owner);
  add("output", BatchLogFile(agent, "%j"));
  std::vector<std::string> words = {program};
  const std::vector<std::string> more = AgentWords(fleet, agent);
  words.insert(words.end(), more.begin(), more.end());
  // A single task would be bound to one processor where the cluster binds tasks.
  absl::StrAppend(&script, "exec srun --ntasks=1 --cpu-bind=none ", ShellLine(words), "\n");
  return script;
}

std::string BatchLogFile(std::string_view agent, std::string_view job) {
  return absl::StrCat(AbslView(agent), ".", AbslView(job), ".log");
}

}  // namespace meshwright::cli
