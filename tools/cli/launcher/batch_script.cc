#include "tools/cli/launcher/batch_script.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/io/whole_file.h"
#include "tools/cli/launcher/job_array.h"
#include "tools/cli/launcher/sbatch_options.h"
#include "tools/cli/launcher/shell_words.h"

namespace meshwright::cli {
namespace {

// Slurm takes batch scripts of up to 4 MiB.
constexpr uintmax_t kMostTemplateBytes = uintmax_t{1} << 20;

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

// The options for which the launcher has flags, or defaults.
constexpr std::string_view kOptionsOfFlags[] = {"account", "exclusive", "gpus-per-node",
                                                "mem",     "partition", "time"};

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
  std::string_view own = OwnOption(name);
  // sbatch accepts a beginning of a name too.
  for (const std::string_view of_flag : kOptionsOfFlags) {
    if (own.empty() && of_flag.starts_with(name)) own = of_flag;
  }
  if (!own.empty()) {
    return FieldError("sbatch", option,
                      absl::StrCat("must not be --", AbslView(own),
                                   ", which the launcher itself sets or relies on"));
  }
  return absl::OkStatus();
}

// A job, or an array of jobs.
struct ScriptOf {
  std::string name;
  std::string output;      // the file's name, with sbatch's patterns
  std::string array = {};  // the tasks; empty if it is one job
  std::string comment;
};

std::vector<std::string> SbatchOptionsOf(const AgentFleet& fleet, const SlurmJobFlags& flags,
                                         const ScriptOf& of) {
  std::vector<std::string> options;
  const auto add = [&options](absl::string_view flag, absl::string_view value) {
    if (!value.empty()) options.push_back(absl::StrCat("--", flag, "=", value));
  };
  const auto site_sets = [&flags](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return flags.site_script.Sets(name); });
  };
  const std::string nodes = absl::StrCat(fleet.nodes_per_job);
  add("job-name", of.name);
  add("array", of.array);
  add("nodes", nodes);
  add("ntasks", nodes);
  if (!site_sets({"exclusive", "oversubscribe", "share"})) options.push_back("--exclusive");
  // All that the node has.
  if (!site_sets({"mem", "mem-per-cpu", "mem-per-gpu"})) add("mem", "0");
  if (fleet.gpus_per_node > 0) add("gpus-per-node", absl::StrCat(fleet.gpus_per_node));
  options.push_back(flags.requeue ? "--requeue" : "--no-requeue");
  // Otherwise a job that starts again would overwrite its output.
  if (flags.requeue) add("open-mode", "append");
  add("partition", flags.partition);
  add("time", flags.time_limit);
  add("account", flags.account);
  add("comment", of.comment);
  add("output", of.output);
  options.insert(options.end(), flags.more.begin(), flags.more.end());
  return options;
}

// Returns the command that runs the agents of a job.
std::string AgentsLine(const AgentFleet& fleet, const SlurmJobFlags& flags,
                       const std::string& program, std::string_view job) {
  return absl::StrCat(flags.site_script.execs() ? "exec " : "",
                      ShellLine(SrunWords(fleet, program, AgentsOfJob(fleet, job))));
}

}  // namespace

absl::Status Check(const SlurmJobFlags& flags) {
  for (const std::string& option : flags.more) RETURN_IF_ERROR(CheckSbatchOption(option));
  RETURN_IF_ERROR(CheckSlurmName("partition", flags.partition));
  RETURN_IF_ERROR(CheckSlurmName("account", flags.account));
  RETURN_IF_ERROR(CheckRange("array", flags.array, 0, kMostNodes));
  if (flags.time_limit.empty() || IsTimeLimit(flags.time_limit)) return absl::OkStatus();
  return FieldError("time", flags.time_limit, "must be minutes, HH:MM:SS or D-HH:MM:SS");
}

absl::Status ReadTemplate(SlurmJobFlags& flags) {
  if (flags.template_file.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text,
                   ReadWholeFile("sbatch_template", flags.template_file, kMostTemplateBytes));
  ASSIGN_OR_RETURN(flags.site_script, SbatchTemplate::Parse(flags.template_file, text));
  return absl::OkStatus();
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
  const ScriptOf of = {
      .name = std::string(job), .output = BatchLogFile(job, "%j"), .comment = flags.owner};
  return flags.site_script.Fill(SbatchOptionsOf(fleet, flags, of),
                                AgentsLine(fleet, flags, program, job) + "\n");
}

std::string ArrayScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program, const std::vector<std::string>& jobs,
                        int32_t at_once) {
  const ScriptOf of = {.name = fleet.name,
                       .output = BatchLogFile(fleet.name + "-%a", "%A_%a"),
                       .array = absl::StrCat(TasksOfJobs(jobs), "%", at_once),
                       .comment = ToText(ArrayComment{flags.owner, at_once})};
  std::string choice = "case $SLURM_ARRAY_TASK_ID in\n";
  for (const std::string& job : jobs) {
    absl::StrAppend(&choice, TaskOfJob(job), ") ", AgentsLine(fleet, flags, program, job), ";;\n");
  }
  return flags.site_script.Fill(SbatchOptionsOf(fleet, flags, of), choice + "esac\n");
}

std::string FirstScript(const AgentFleet& fleet, const SlurmJobFlags& flags,
                        const std::string& program) {
  const std::vector<std::string> jobs = JobNames(fleet);
  if (flags.array == 0) return BatchScript(fleet, flags, program, jobs.front());
  return ArrayScript(fleet, flags, program, jobs, flags.array);
}

std::string BatchLogFile(std::string_view name, std::string_view job) {
  return absl::StrCat(AbslView(name), ".", AbslView(job), ".log");
}

}  // namespace meshwright::cli
