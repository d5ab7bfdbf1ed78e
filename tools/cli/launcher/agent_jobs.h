// AgentJobs keeps one queue job for each agent, or for some of them: from the state of the queue it
// decides which jobs to submit, to cancel and to give up.
//
// It runs nothing, reads no clock and queries no queue: the caller passes in what it saw and when,
// and carries the decisions out. A job belongs to the agent whose name it bears, so that a job
// whose submission was cut off before its number was heard is found again.
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
  kEnding,  // it was told to end, and its node is not free yet
  kEnded,
};

// A job as the queue shows it.
struct QueuedJob {
  std::string id;
  std::string name;
  JobPhase phase = JobPhase::kWaiting;
  std::string state;       // the queue's own word
  std::string node;        // empty: none yet
  std::string reason;      // why it waits, or why it ended; empty: none
  std::string owner = {};  // the job's owner, where one was given (SlurmJobFlags)

  friend bool operator==(const QueuedJob&, const QueuedJob&) = default;
};

struct JobPolicy {
  absl::Duration settled_after = absl::Minutes(1);  // a job that ran this long did not fail at once
  absl::Duration first_pause = absl::Seconds(5);  // before the next job; doubles with each failure
  absl::Duration longest_pause = absl::Minutes(5);
  int32_t most_failures = 5;  // consecutive jobs that did not settle
};

struct JobTarget {
  int32_t jobs = 0;
  // Agents that get no job, and whose jobs don't count.
  std::set<std::string> closed = {};
};

// A job of an agent that was not let go.
struct AgentJob {
  std::string agent;
  JobPhase phase = JobPhase::kWaiting;
  MonotonicTime running_since = MonotonicTime::Never();  // as far as it was seen
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

  // Sets how many jobs are kept from now on, those of the first free names. Jobs beyond that number
  // go on until they are let go.
  void Aim(JobTarget target) { target_ = std::move(target); }
  // Returns what is to be done; `queue` holds all its jobs of these names, including ended ones
  // that it still knows. For each name in `submit` one of the two following calls has to be made.
  JobDecisions Observe(MonotonicTime now, const std::vector<QueuedJob>& queue);
  void Submitted(std::string_view name, const std::string& job);
  JobDecisions NotSubmitted(MonotonicTime now, std::string_view name, const absl::Status& why);

  // In the order of the names.
  std::vector<AgentJob> Jobs() const;
  // Lets the agent's job end, with no successor unless one is wanted. Returns its number, to be
  // cancelled at once; Observe() repeats that until it has ended. Empty where it has none.
  std::string LetGo(std::string_view name);

  // From now on nothing is submitted, and every job is cancelled.
  void Stop() { stopping_ = true; }
  // Returns the number of jobs that had not ended when the queue was last observed.
  int32_t live() const { return live_; }
  // Aborted, with each agent's last failure, once all are given up.
  absl::Status GivenUp() const;

 private:
  struct Entry {
    std::string name;
    std::string job = {};   // the entry's job; empty: none
    std::string told = {};  // what was last logged of that job
    std::string node = {};  // where it runs or ran
    JobPhase phase = JobPhase::kWaiting;
    bool let_go = false;
    MonotonicTime running_since = MonotonicTime::Never();  // as far as it was seen
    int32_t failures = 0;                                  // consecutive jobs that did not settle
    MonotonicTime next = MonotonicTime::Always();          // when a job may be submitted
    std::string given_up = {};                             // why it is given up; empty: it is not
  };

  void ObserveEntry(MonotonicTime now, const std::vector<const QueuedJob*>& jobs, Entry& entry,
                    JobDecisions& decisions);
  static void Follow(MonotonicTime now, const QueuedJob& job, Entry& entry,
                     JobDecisions& decisions);
  void End(MonotonicTime now, const std::string& how, Entry& entry, JobDecisions& decisions);
  void Fail(MonotonicTime now, const std::string& what, Entry& entry, JobDecisions& decisions);
  // Whether it has a job, or will have once its pause is over.
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
