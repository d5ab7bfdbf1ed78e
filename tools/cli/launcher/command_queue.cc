#include "tools/cli/launcher/command_queue.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/io/whole_file.h"
#include "tools/cli/launcher/shell_words.h"

namespace meshwright::cli {
namespace {

// As long as Slurm's commands get (slurm_queue.cc).
constexpr double kTimeoutS = 60.0;
constexpr size_t kMostJobName = 256;
constexpr char kFolderFlag[] = "jobs_dir";

// States in lower case. HTCondor's and PBS's C, E, F, H, Q, R, T, W and X mean the same.
struct PhaseStates {
  JobPhase phase;
  std::string_view states;
};
constexpr std::array<PhaseStates, 4> kPhases = {{
    {JobPhase::kWaiting,
     "waiting queued pending pend psusp wait pd cf q h w t i s qw hqw hrwq depend priority sched "
     "configuring idle held suspended ssusp ususp requeued"},
    {JobPhase::kRunning, "running run r b t-r dr hr started active"},
    {JobPhase::kEnding, "ending e cg completing cleanup exiting"},
    {JobPhase::kEnded,
     "ended done exit c f x cd ca to nf zombi eqw inactive completed failed cancelled canceled "
     "timeout removed finished"},
}};

absl::Status CheckHas(std::string_view field, const std::string& command, std::string_view name) {
  if (command.empty()) {
    return FieldError(
        field, "",
        absl::StrCat("must be a command with ", AbslView(name), ", since --launcher is command"));
  }
  if (command.find(name) != std::string::npos) return absl::OkStatus();
  return FieldError(field, command, absl::StrCat("must have ", AbslView(name)));
}

// Returns the job that a submission's output names in its last line.
absl::StatusOr<std::string> JobIn(absl::string_view output) {
  output = absl::StripAsciiWhitespace(output);
  const size_t line = output.rfind('\n');
  if (line != absl::string_view::npos) output.remove_prefix(line + 1);
  output = absl::StripAsciiWhitespace(output);
  const bool is_word = !output.empty() && output.size() <= kMostJobName &&
                       std::all_of(output.begin(), output.end(),
                                   [](unsigned char c) { return c > 0x20 && c != 0x7f; });
  if (is_word) return std::string(output);
  return absl::InternalError(
      absl::StrCat("the last line that --submit printed is \"", output.substr(0, kMostJobName),
                   "\"; must be the job alone, in the form that --status and --cancel take"));
}

}  // namespace

absl::Status Check(const QueueCommands& commands) {
  RETURN_IF_ERROR(CheckHas("submit", commands.submit, "{script}"));
  if (commands.status.empty()) {
    return FieldError("status", "",
                      "must be a command that prints the states of at least {jobs}, since "
                      "--launcher is command");
  }
  return CheckHas("cancel", commands.cancel, "{job}");
}

absl::StatusOr<JobPhase> PhaseOfState(std::string_view state) {
  const std::string word = absl::AsciiStrToLower(AbslView(state));
  for (const PhaseStates& phase : kPhases) {
    for (const absl::string_view known : absl::StrSplit(AbslView(phase.states), ' ')) {
      if (known == word) return phase.phase;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the state \"", AbslView(state),
                   "\" is not known; must be waiting, running, ending, ended, or a state of PBS, "
                   "LSF, Grid Engine, HTCondor, Flux or Slurm"));
}

std::string AgentScript(const AgentJobSpec& spec) {
  std::vector<std::string> words = {spec.program};
  const std::vector<std::string> more = AgentWords(spec.fleet, spec.agent);
  words.insert(words.end(), more.begin(), more.end());
  return absl::StrCat("#!/bin/sh\nexec ", ShellLine(words), "\n");
}

CommandQueue::CommandQueue(InputProgramRunner run, QueueCommands commands, UniqueFd lock)
    : run_(std::move(run)), commands_(std::move(commands)), lock_(std::move(lock)) {}

absl::StatusOr<std::shared_ptr<const CommandQueue>> CommandQueue::Open(InputProgramRunner run,
                                                                       QueueCommands commands) {
  std::error_code error;
  commands.folder = std::filesystem::absolute(commands.folder, error).string();
  std::filesystem::create_directories(commands.folder, error);
  const std::string path = commands.folder + "/lock";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.is_open()) {
    return FieldError(kFolderFlag, commands.folder,
                      absl::StrCat("can't be written: ", std::strerror(errno)));
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(kFolderFlag, " = ", commands.folder,
                     ": is in use by another process; give another --jobs-dir"));
  }
  return std::shared_ptr<const CommandQueue>(
      new CommandQueue(std::move(run), std::move(commands), std::move(lock)));
}

std::string CommandQueue::HowToEnd(std::string_view job) const {
  return absl::StrReplaceAll(commands_.cancel, {{"{job}", AbslView(job)}});
}

std::string CommandQueue::HowToList() const {
  return absl::StrCat("the files in ", commands_.folder);
}

std::string CommandQueue::OutputOf(std::string_view /*agent*/, std::string_view /*job*/) const {
  return "";
}

std::string CommandQueue::PathOf(std::string_view agent, std::string_view ending) const {
  return absl::StrCat(commands_.folder, "/", AbslView(agent), AbslView(ending));
}

absl::StatusOr<std::string> CommandQueue::Run(const std::string& command) const {
  return run_("", {"/bin/sh", "-c", command}, kTimeoutS);
}

absl::StatusOr<std::string> CommandQueue::Submit(const AgentJobSpec& spec) const {
  const std::string begun = PathOf(spec.agent, ".submitting");
  std::error_code error;
  if (std::filesystem::exists(begun, error)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "an earlier process ended while it submitted this agent's job, which may be in "
        "the queue: end it, and remove ",
        begun));
  }
  const std::string script = PathOf(spec.agent, ".sh");
  RETURN_IF_ERROR(WriteWholeFile(kFolderFlag, script, AgentScript(spec)));
  std::filesystem::permissions(script, std::filesystem::perms::owner_all, error);
  RETURN_IF_ERROR(WriteWholeFile(kFolderFlag, begun, ""));
  absl::StatusOr<std::string> output = Run(absl::StrReplaceAll(
      commands_.submit, {{"{script}", ShellLine({script})}, {"{name}", ShellLine({spec.agent})}}));
  absl::StatusOr<std::string> job = output.ok() ? JobIn(*output) : std::move(output);
  if (job.ok()) {
    RETURN_IF_ERROR(WriteWholeFile(kFolderFlag, PathOf(spec.agent, ".job"), *job + "\n"));
  }
  std::filesystem::remove(begun, error);
  return job;
}

absl::StatusOr<std::vector<QueuedJob>> CommandQueue::List(
    const std::vector<std::string>& agents) const {
  std::map<std::string, std::string, std::less<>> agent_of;
  std::vector<std::string> jobs;
  for (const std::string& agent : agents) {
    std::string job = ReadWholeFile(kFolderFlag, PathOf(agent, ".job")).value_or("");
    absl::StripAsciiWhitespace(&job);
    if (job.empty()) continue;
    agent_of[job] = agent;
    jobs.push_back(job);
  }
  std::vector<QueuedJob> queue;
  if (jobs.empty()) return queue;
  ASSIGN_OR_RETURN(const std::string output,
                   Run(absl::StrReplaceAll(commands_.status, {{"{jobs}", ShellLine(jobs)}})));
  for (const absl::string_view line : absl::StrSplit(output, '\n', absl::SkipWhitespace())) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    const auto agent = agent_of.find(words.front());
    if (agent == agent_of.end()) continue;  // a headline, or a job of somebody else
    if (words.size() < 2) {
      return absl::InternalError(absl::StrCat("--status printed \"", line, "\" without a state"));
    }
    ASSIGN_OR_RETURN(const JobPhase phase, PhaseOfState(words[1]));
    const std::string rest = absl::StrJoin(words.begin() + 2, words.end(), " ");
    const bool runs = phase == JobPhase::kRunning;
    queue.push_back({.id = agent->first,
                     .name = agent->second,
                     .phase = phase,
                     .state = runs ? "RUNNING" : words[1],
                     .node = runs ? rest : "",
                     .reason = runs ? "" : rest,
                     .owner = kOwner});
  }
  return queue;
}

absl::Status CommandQueue::Cancel(const std::vector<std::string>& jobs) const {
  absl::Status first;
  for (const std::string& job : jobs) {
    first.Update(
        Run(absl::StrReplaceAll(commands_.cancel, {{"{job}", ShellLine({job})}})).status());
  }
  return first;
}

}  // namespace meshwright::cli
