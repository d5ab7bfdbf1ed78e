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

std::vector<std::string> WordsOf(const AgentFleet& fleet, const std::string& program,
                                 const std::string& agent) {
  std::vector<std::string> words = {program};
  const std::vector<std::string> more = AgentWords(fleet, agent);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// By these options the launcher describes its jobs and finds them again, or it relies on their
// defaults.
constexpr std::string_view kOwnOptions[] = {
    "account", "array", "comment", "exclusive",      "gpus-per-node", "job-name",
    "mem",     "nodes", "ntasks",  "no-requeue",     "output",        "partition",
    "requeue", "time",  "wrap",    "ntasks-per-node"};

// An option stands on a line that sbatch reads and no shell does.
absl::Status CheckSbatchOption(const std::string& option) {
  const bool is_long = option.starts_with("--") && option.size() > 2;
  const bool plain = std::all_of(option.begin(), option.end(),
                                 [](unsigned char c) { return absl::ascii_isgraph(c); });
  if (!is_long || !plain || option.find('#') != std::string::npos) {
    return FieldError("sbatch", option,
                      "must be a long option of sbatch in one word, such as --switches=1");
  }
  const std::string name = option.substr(2, option.find('=') - 2);
  for (const std::string_view own : kOwnOptions) {
    // sbatch accepts a beginning of a name too.
    if (!own.starts_with(name)) continue;
    return FieldError("sbatch", option,
                      absl::StrCat("must not be --", AbslView(own),
                                   ", which the launcher itself sets or relies on"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Check(const SlurmJobFlags& flags) {
  for (const std::string& option : flags.more) RETURN_IF_ERROR(CheckSbatchOption(option));
  RETURN_IF_ERROR(CheckSlurmName("partition", flags.partition));
  RETURN_IF_ERROR(CheckSlurmName("account", flags.account));
  if (flags.time_limit.empty() || IsTimeLimit(flags.time_limit)) return absl::OkStatus();
  return FieldError("time", flags.time_limit, "must be minutes, HH:MM:SS or D-HH:MM:SS");
}

std::vector<std::string> SrunWords(const AgentFleet& fleet, const std::string& program,
                                   const std::vector<std::string>& agents) {
  // A single task would be bound to one processor where the cluster binds tasks.
  std::vector<std::string> words = {"srun", absl::StrCat("--ntasks=", agents.size()),
                                    "--cpu-bind=none"};
  std::vector<std::string> task;
  if (agents.size() == 1) {
    task = WordsOf(fleet, program, agents.front());
  } else {
    std::string choice = "case $SLURM_PROCID in";
    for (size_t i = 0; i < agents.size(); ++i) {
      absl::StrAppend(&choice, " ", i, ") exec ", ShellLine(WordsOf(fleet, program, agents[i])),
                      ";;");
    }
    // The loss of one agent must not end the others.
    task = {"--ntasks-per-node=1", "--kill-on-bad-exit=0", "--wait=0", "sh", "-c",
            choice + " esac"};
  }
  words.insert(words.end(), task.begin(), task.end());
  return words;
}

std::string BatchScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, std::string_view job) {
  std::string script = "#!/bin/sh\n";
  const auto add = [&script](absl::string_view flag, absl::string_view value) {
    if (!value.empty()) absl::StrAppend(&script, "#SBATCH --", flag, "=", value, "\n");
  };
  const std::string nodes = absl::StrCat(fleet.nodes_per_job);
  add("job-name", AbslView(job));
  add("nodes", nodes);
  add("ntasks", nodes);
  script += "#SBATCH --exclusive\n";
  add("mem", "0");  // all that the node has
  if (fleet.gpus_per_node > 0) add("gpus-per-node", absl::StrCat(fleet.gpus_per_node));
  script += "#SBATCH --no-requeue\n";
  add("partition", flags.partition);
  add("time", flags.time_limit);
  add("account", flags.account);
  add("comment", flags.owner);
  add("output", BatchLogFile(job, "%j"));
  for (const std::string& option : flags.more) absl::StrAppend(&script, "#SBATCH ", option, "\n");
  absl::StrAppend(&script, "exec ", ShellLine(SrunWords(fleet, program, AgentsOfJob(fleet, job))),
                  "\n");
  return script;
}

std::string BatchLogFile(std::string_view name, std::string_view job) {
  return absl::StrCat(AbslView(name), ".", AbslView(job), ".log");
}

}  // namespace meshwright::cli
