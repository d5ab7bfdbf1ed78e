// AgentJobs keeps jobs in a batch queue, each of one or several agents: for all agents of a fleet
// or for some. From the state of the queue, it decides which jobs to submit and to cancel, and
// which jobs to give up. A job has the name of its first agent, and "agent" below stands for that
// name.
//
// AgentJobs runs no program, reads no clock and queries no queue: the caller passes in the state of
// the queue and the time, and carries out the decisions. A job is found again by its name,
// even if its submission was interrupted before the caller got the job's number. A job that the
// queue starts again under its number is followed, and not replaced.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"

namespace meshwright::cli {

enum class JobPhase : uint8_t {
  kWaiting,
  kRunning,
  kEnding,  // it is being ended, and its node is not free yet
  kEnded,
};

// A job as the queue shows it.
struct QueuedJob {
  std::string id;
  std::string name;
  JobPhase phase = JobPhase::kWaiting;
  std::string state;       // as the queue prints it
  std::string node;        // node of the job; empty if it has none yet
  std::string reason;      // why the job waits, or why it ended; empty if not known
  std::string owner = {};  // FleetLaunch::owner; empty if none was given
  // How many jobs of the job's array may run at once; 0 if it is in no array.
  int32_t array_limit = 0;

  friend bool operator==(const QueuedJob&, const QueuedJob&) = default;
};

struct JobPolicy {
  // A job that ran this long has settled. A job that ends sooner has failed.
  absl::Duration settled_after = absl::Minutes(1);
  absl::Duration first_pause = absl::Seconds(5);  // before the next job; doubles with each failure
  absl::Duration longest_pause = absl::Minutes(5);
  int32_t most_failures = 5;  // consecutive failures after which an agent is given up
};

struct JobTarget {
  int32_t jobs = 0;
  // Agents that get no job, and whose jobs don't count towards `jobs`.
  std::set<std::string> closed = {};
};

// A job that was not let go (AgentJobs::LetGo()).
struct AgentJob {
  std::string agent;
  std::string id = {};
  JobPhase phase = JobPhase::kWaiting;
  std::string reason = {};                               // why it waits; empty if not known
  MonotonicTime waiting_since = MonotonicTime::Never();  // when it was first seen to wait
  MonotonicTime running_since = MonotonicTime::Never();  // when it was first seen to run
};

struct JobDecisions {
  std::vector<std::string> submit;  // names of agents
  std::vector<std::string> cancel;  // numbers of jobs
  std::vector<LogEntry> log;
};

class AgentJobs {
 public:
  // Every agent gets a job until Aim() says otherwise.
  AgentJobs(const std::vector<std::string>& names, const JobPolicy& policy);

  // Sets how many jobs are kept from now on. New jobs go to the first free names. Surplus jobs run
  // on until LetGo().
  void Aim(JobTarget target) { target_ = std::move(target); }
  // Returns the decisions for the present state of the queue. `queue` holds the queue's jobs of
  // these names, including ended jobs that the queue still lists. After the caller has submitted
  // the job of a name in JobDecisions::submit, it calls Submitted() or, on an error,
  // NotSubmitted().
  JobDecisions Observe(MonotonicTime now, const std::vector<QueuedJob>& queue);
  void Submitted(std::string_view name, const std::string& job);
  JobDecisions NotSubmitted(MonotonicTime now, std::string_view name, const absl::Status& why);

  // Returns the jobs that were not let go, in the order of the names.
  std::vector<AgentJob> Jobs() const;
  // Lets the agent's job end. The agent gets another job only if fewer jobs are left than Aim()
  // set. Returns the number of the job, which the caller cancels immediately; Observe() repeats the
  // cancellation until the job has ended. Returns an empty text if the agent has no job.
  std::string LetGo(std::string_view name);

  // Makes Observe() submit nothing and cancel every job from now on.
  void Stop() { stopping_ = true; }
  // Returns the number of jobs that had not ended when the queue was last observed.
  int32_t live() const { return live_; }
  // Returns Aborted, with agents' last failures, once all agents are given up. Returns OK before.
  absl::Status GivenUp() const;

 private:
  struct Entry {
    std::string name;
    std::string job = {};   // number of its job; empty if there is none
    std::string told = {};  // what was last logged about that job
    std::string node = {};  // the node where the job runs or ran
    JobPhase phase = JobPhase::kWaiting;
    std::string reason = {};  // why the job waits
    bool let_go = false;
    MonotonicTime waiting_since = MonotonicTime::Never();  // since the job ran, if it did
    MonotonicTime running_since = MonotonicTime::Never();  // since the job waited
    int32_t failures = 0;                                  // consecutive jobs that did not settle
    MonotonicTime next = MonotonicTime::Always();          // when a job may be submitted
    std::string given_up = {};                             // why it is given up; empty if it is not
  };

  void ObserveEntry(MonotonicTime now, const std::vector<const QueuedJob*>& jobs, Entry& entry,
                    JobDecisions& decisions);
  static void Follow(MonotonicTime now, const QueuedJob& job, Entry& entry,
                     JobDecisions& decisions);
  void End(MonotonicTime now, const std::string& how, Entry& entry, JobDecisions& decisions);
  void Fail(MonotonicTime now, const std::string& what, Entry& entry, JobDecisions& decisions);
  // Returns whether the entry counts towards the target: it has a job, or will have one once its
  // pause is over.
  bool IsTaken(MonotonicTime now, const Entry& entry) const;
  void SubmitWanted(MonotonicTime now, JobDecisions& decisions) const;
  Entry& EntryOf(std::string_view name);

  const JobPolicy policy_;
  JobTarget target_;
  std::vector<Entry> entries_;
  bool stopping_ = false;
  int32_t live_ = 0;
};

}  // namespace meshwright::cli
