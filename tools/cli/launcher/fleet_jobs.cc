#include "tools/cli/launcher/fleet_jobs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::cli {
namespace {

// Slurm's default KillWait is 30 s; agents end within 5 s.
constexpr absl::Duration kEndWait = absl::Seconds(40);
constexpr absl::Duration kEndPoll = absl::Seconds(1);
// The delay until a stop is noticed.
constexpr absl::Duration kNap = absl::Milliseconds(100);

// Jobs of another number of nodes run other agents under the same names.
std::string OwnerOf(const FleetLaunch& launch) {
  const int32_t nodes = launch.fleet.nodes_per_job;
  if (launch.owner.empty() || nodes == 1) return launch.owner;
  return absl::StrCat(launch.owner, "/", nodes);
}

}  // namespace

// The analyzer does not follow AgentJobs' own constructor, which sets all of it.
// NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject)
FleetJobs::FleetJobs(const FleetLaunch& launch, const LaunchWorld& world)
    : launch_(launch),
      world_(world),
      owner_(OwnerOf(launch)),
      names_(JobNames(launch.fleet)),
      agent_jobs_(names_, launch.policy) {}

absl::Status FleetJobs::Begin() const {
  RETURN_IF_ERROR(world_.queue->Check({launch_.fleet, launch_.program, owner_, names_.front()}));
  // A job may have the name of any agent, if it was submitted for jobs of fewer nodes.
  ASSIGN_OR_RETURN(const std::vector<QueuedJob> queue,
                   world_.queue->List(AgentNames(launch_.fleet)));
  for (const QueuedJob& job : queue) {
    const bool is_own = !owner_.empty() && job.owner == owner_;
    if (is_own || job.phase == JobPhase::kEnded) continue;
    return FieldError("job_name", launch_.fleet.name,
                      absl::StrCat("job ", job.id, " in the queue is called ", job.name,
                                   " already: give another name, or end that job (",
                                   world_.queue->HowToEnd(job.id), ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<QueuedJob>> FleetJobs::ListOwn() const {
  ASSIGN_OR_RETURN(std::vector<QueuedJob> queue, world_.queue->List(names_));
  if (!owner_.empty()) {
    std::erase_if(queue, [&](const QueuedJob& job) { return job.owner != owner_; });
  }
  return queue;
}

bool FleetJobs::Look() {
  const absl::StatusOr<std::vector<QueuedJob>> queue = ListOwn();
  if (queue.ok() != answers_) {
    answers_ = queue.ok();
    Say(answers_ ? LogLevel::kInfo : LogLevel::kWarning,
        absl::StrCat(world_.queue->name(),
                     answers_ ? " answers again" : " does not report the states of the jobs: ",
                     queue.status().ok() ? "" : queue.status().message()));
  }
  if (!queue.ok()) return false;
  const JobDecisions decisions = agent_jobs_.Observe(world_.clock(), *queue);
  for (const LogEntry& entry : decisions.log) world_.log(entry);
  if (!decisions.cancel.empty()) Cancel(decisions.cancel);
  Submit(decisions.submit, *queue);
  return true;
}

void FleetJobs::Wait() const {
  const MonotonicTime until = world_.clock() + launch_.poll;
  while (!world_.stopped() && world_.clock() < until) world_.sleep(kNap);
}

void FleetJobs::LetGo(const std::string& agent) {
  if (const std::string job = agent_jobs_.LetGo(agent); !job.empty()) Cancel({job});
}

void FleetJobs::End() {
  agent_jobs_.Stop();
  const MonotonicTime until = world_.clock() + kEndWait;
  while (!Look() || agent_jobs_.live() > 0) {
    if (world_.clock() >= until) {
      return Say(LogLevel::kWarning, absl::StrCat("stops waiting for ", agent_jobs_.live(),
                                                  " of its jobs, which have not ended (see ",
                                                  world_.queue->HowToList(), ")"));
    }
    world_.sleep(kEndPoll);
  }
}

void FleetJobs::Say(LogLevel level, std::string message) const {
  world_.log({.level = level, .message = std::move(message)});
}

void FleetJobs::Submit(const std::vector<std::string>& names,
                       const std::vector<QueuedJob>& present) {
  if (names.empty() || !world_.queue->TakesMore(present)) return;
  std::vector<AgentJobSpec> specs;
  for (const std::string& name : names) {
    if (world_.stopped()) return;
    if (world_.may_submit && !world_.may_submit(name)) continue;
    specs.push_back({launch_.fleet, launch_.program, owner_, name});
  }
  if (specs.empty()) return;
  world_.queue->SubmitAll(specs, present,
                          [this](const std::string& name, const absl::StatusOr<std::string>& job) {
                            Note(name, job);
                            return !world_.stopped();
                          });
}

void FleetJobs::Note(const std::string& name, const absl::StatusOr<std::string>& job) {
  if (!job.ok()) {
    // Ctrl-C reaches the queue's program too; Slurm's jobs are then cancelled by their names.
    if (world_.stopped()) return;
    for (const LogEntry& entry : agent_jobs_.NotSubmitted(world_.clock(), name, job.status()).log) {
      world_.log(entry);
    }
    return;
  }
  agent_jobs_.Submitted(name, *job);
  const std::string output = world_.queue->OutputOf(name, *job);
  world_.log({.message = absl::StrCat(name, ": job ", *job, " is submitted",
                                      output.empty() ? "" : "; its output goes to ", output),
              .about = {.agent = name}});
}

void FleetJobs::Cancel(const std::vector<std::string>& jobs) const {
  if (const absl::Status status = world_.queue->Cancel(jobs); !status.ok()) {
    Say(LogLevel::kWarning, absl::StrCat("can't cancel jobs: ", status.message()));
  }
}

absl::Status RunLaunch(const FleetLaunch& launch, const LaunchWorld& world) {
  FleetJobs jobs(launch, world);
  RETURN_IF_ERROR(jobs.Begin());
  absl::Status given_up;
  while (!world.stopped() && given_up.ok()) {
    jobs.Look();
    given_up = jobs.agent_jobs().GivenUp();
    if (given_up.ok()) jobs.Wait();
  }
  jobs.End();
  return given_up;
}

}  // namespace meshwright::cli
