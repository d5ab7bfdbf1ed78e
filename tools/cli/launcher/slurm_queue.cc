#include "tools/cli/launcher/slurm_queue.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/launcher/job_array.h"

namespace meshwright::cli {
namespace {

// Longer than Slurm's own MessageTimeout with its retries.
constexpr double kTimeoutS = 60.0;

// Number of the job or its array, task, state, nodes, reason, name and comment; the columns that
// may contain a bar are last.
constexpr char kQueueColumns[] = "%F|%K|%T|%N|%r|%j|%k";
constexpr int kColumnCount = 7;

// By squeue's "JOB STATE CODES". An unknown word of a later Slurm counts as running: the job is
// followed and shown until it ends.
JobPhase PhaseOf(absl::string_view state) {
  static constexpr absl::string_view kWaiting[] = {"PENDING",      "CONFIGURING",  "REQUEUED",
                                                   "REQUEUE_FED",  "REQUEUE_HOLD", "SPECIAL_EXIT",
                                                   "RESV_DEL_HOLD"};
  static constexpr absl::string_view kEnded[] = {
      "BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE", "FAILED",
      "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",  "TIMEOUT"};
  const auto holds = [&](const auto& states) {
    return std::find(std::begin(states), std::end(states), state) != std::end(states);
  };
  if (state == "COMPLETING") return JobPhase::kEnding;
  if (holds(kWaiting)) return JobPhase::kWaiting;
  return holds(kEnded) ? JobPhase::kEnded : JobPhase::kRunning;
}

bool IsJobNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// Returns the names of the agents' jobs and arrays.
std::set<std::string> SlurmNamesOf(const std::vector<std::string>& agents) {
  std::set<std::string> names(agents.begin(), agents.end());
  for (const std::string& agent : agents) names.insert(FleetOfJob(agent));
  return names;
}

// Reads a line of squeue.
QueuedJob JobOfLine(const std::vector<std::string>& cells) {
  QueuedJob job = {.id = cells[0],
                   .name = cells[5],
                   .phase = PhaseOf(cells[2]),
                   .state = cells[2],
                   .node = cells[3],
                   .reason = cells[4] == "None" ? "" : cells[4],
                   .owner = cells[6] == "(null)" ? "" : cells[6]};
  if (!IsJobNumber(cells[1])) return job;
  ArrayComment comment = ReadArrayComment(job.owner);
  absl::StrAppend(&job.id, "_", cells[1]);
  absl::StrAppend(&job.name, "-", cells[1]);
  job.owner = std::move(comment.owner);
  job.array_limit = comment.at_once;
  return job;
}

}  // namespace

std::string SlurmQueue::HowToEnd(std::string_view job) const {
  return absl::StrCat("scancel ", AbslView(job));
}

std::string SlurmQueue::OutputOf(std::string_view agent, std::string_view job) const {
  return BatchLogFile(agent, job);
}

absl::Status SlurmQueue::Check(const AgentJobSpec&) const {
  absl::Status status = run_("", {"sbatch", "--version"}, kTimeoutS).status();
  if (!absl::IsUnavailable(status)) return status;
  return absl::FailedPreconditionError(
      absl::StrCat("Slurm's commands are not here (", status.message(),
                   "): run this on a machine that submits jobs, such as a login node, or add the "
                   "folder of sbatch, squeue and scancel to PATH"));
}

absl::StatusOr<std::string> SlurmQueue::Submit(const AgentJobSpec& spec) const {
  SlurmJobFlags flags = flags_;
  flags.owner = spec.owner;
  return SubmitScript(BatchScript(spec.fleet, flags, spec.program, spec.agent));
}

bool SlurmQueue::TakesMore(const std::vector<QueuedJob>& present) const {
  return flags_.array == 0 || MostAtOnce(present) < flags_.array;
}

void SlurmQueue::SubmitAll(const std::vector<AgentJobSpec>& specs,
                           const std::vector<QueuedJob>& present,
                           const Submitted& submitted) const {
  if (flags_.array == 0) return JobQueue::SubmitAll(specs, present, submitted);
  SlurmJobFlags flags = flags_;
  flags.owner = specs.front().owner;
  std::vector<std::string> jobs;
  jobs.reserve(specs.size());
  for (const AgentJobSpec& spec : specs) jobs.push_back(spec.agent);
  const absl::StatusOr<std::string> array = SubmitScript(ArrayScript(
      specs.front().fleet, flags, specs.front().program, jobs, flags_.array - MostAtOnce(present)));
  for (const std::string& job : jobs) {
    // Every task has to be known, since all of them are in the queue.
    submitted(job, array.ok() ? absl::StrCat(*array, "_", TaskOfJob(job)) : array);
  }
}

absl::StatusOr<std::string> SlurmQueue::SubmitScript(const std::string& script) const {
  ASSIGN_OR_RETURN(const std::string said, run_(script, {"sbatch", "--parsable"}, kTimeoutS));
  // NUMBER, or NUMBER;CLUSTER.
  const std::vector<absl::string_view> parts = absl::StrSplit(said, absl::ByAnyChar(";\n"));
  if (IsJobNumber(parts.front())) return std::string(parts.front());
  return absl::InternalError(absl::StrCat("sbatch printed no job number: ", said));
}

absl::StatusOr<std::vector<QueuedJob>> SlurmQueue::List(
    const std::vector<std::string>& agents) const {
  ASSIGN_OR_RETURN(const std::string said,
                   run_("",
                        {"squeue", "--me", "--noheader", "--array", "--states=all",
                         absl::StrCat("--name=", absl::StrJoin(SlurmNamesOf(agents), ",")),
                         absl::StrCat("--format=", kQueueColumns)},
                        kTimeoutS));
  const std::set<std::string> known(agents.begin(), agents.end());
  std::vector<QueuedJob> jobs;
  for (const absl::string_view line : absl::StrSplit(said, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> cells =
        absl::StrSplit(line, absl::MaxSplits('|', kColumnCount - 1));
    if (cells.size() != kColumnCount || !IsJobNumber(cells[0])) {
      return absl::InternalError(
          absl::StrCat("squeue printed a line in another format than it was asked for: ", line));
    }
    QueuedJob job = JobOfLine(cells);
    if (known.contains(job.name)) jobs.push_back(std::move(job));
  }
  return jobs;
}

absl::Status SlurmQueue::Cancel(const std::vector<std::string>& jobs) const {
  std::vector<std::string> words = {"scancel"};
  words.insert(words.end(), jobs.begin(), jobs.end());
  return run_("", words, kTimeoutS).status();
}

}  // namespace meshwright::cli
