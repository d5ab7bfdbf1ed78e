// Runs an agent's trials, each on slots of its devices, as many at once as don't share one, on
// threads that live as long as the agent: workers die with the thread that spawned them.
//
// Callers may rely on: trials that want the same slot run one after the other in the order in which
// they came; a trial gets the same cores and at most the same part of the host's memory whether or
// not others run beside it. What a rank reaches at most is measured by the first trial of a kind,
// beside none of its kind, and is the same for those that follow, so that their MFU compares; of
// gangs each trial measures it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/gang/gang.h"
#include "executor/host/host_memory.h"
#include "executor/trial/trial_runner.h"
#include "executor/wire/attempt_key.h"
#include "executor/wire/device_set.h"

namespace meshwright::agent {

// Runs one trial: RunTrial, or a test's own.
using TrialRunner =
    std::function<trial::TrialResult(const trial::TrialPlan&, const trial::TrialRunnerOptions&)>;
// Runs an agent's ranks of one that several run together: RunMember, or a test's own.
using GangRunner = std::function<trial::TrialResult(
    const trial::TrialPlan&, const gang::Membership&, const trial::TrialRunnerOptions&)>;

struct TrialRunners {
  TrialRunner alone;
  GangRunner together = {};
  // Binds the calling thread, and so the workers that it starts, to the cores of these slots; may
  // be empty.
  std::function<void(const wire::DeviceShare&)> bind = {};
  // What this host has left for ranks on its processor.
  std::function<absl::StatusOr<host::MemoryRoom>()> available_memory = [] {
    return host::AvailableMemory();
  };
};

// A trial to run.
struct TrialJob {
  wire::AttemptKey key;
  trial::TrialPlan plan;
  wire::DeviceShare share;
  std::optional<gang::Membership> place = {};  // where the agent stands among several that run it
};

class TrialThreads {
 public:
  // Called on a trial's thread; must not block.
  struct Callbacks {
    std::function<void(const wire::AttemptKey&, const trial::TrialProgress&)> progress;
    std::function<void(const wire::AttemptKey&, const trial::TrialResult&)> done;
    // What keeps no trial from running but should be known; may be empty.
    std::function<void(const wire::AttemptKey&, const std::string&)> warn = {};
  };

  TrialThreads(TrialRunners runners, std::string worker_path, int32_t slots, Callbacks callbacks);
  // Kills the workers of running trials and waits for their end. Those that wait are cancelled.
  ~TrialThreads();

  void Start(TrialJob job);
  // The trial ends with the outcome cancelled, if it has not ended.
  void Cancel(const wire::AttemptKey& key);

 private:
  struct Entry {
    TrialJob job;
    std::atomic<bool> cancel{false};
    double known_peak_flops = 0.0;  // 0: the trial measures it
    // What its ranks are going to take of the host's memory; 0 on devices, and where nobody knows.
    int64_t needs_bytes = 0;
    std::atomic<bool> has_taken{false};  // all of that

    explicit Entry(TrialJob given) : job(std::move(given)) {}
  };
  using Entries = std::list<Entry>;

  // What a rank's peak depends on; the last: ranks that run at once.
  using PeakKey = std::tuple<planner::DeviceKind, planner::Precision, int64_t>;
  static PeakKey KindOf(const trial::TrialPlan& plan);

  void Loop();
  // The first that waits and may run now; the end of `waiting_` where there is none.
  Entries::iterator NextToRun() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether it is only to be told that it has ended.
  bool IsCancelled(const Entry& entry) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayRunBeside(const Entry& entry, const Entry& running) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double KnownPeak(const trial::TrialPlan& plan) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  trial::TrialResult Run(Entry& entry);
  // What the trial may take of the host's memory: its slots' part, and not what those that began
  // before it are still going to take.
  absl::StatusOr<host::MemoryRoom> RoomFor(const Entry& entry);

  const TrialRunners runners_;
  const std::string worker_path_;
  const int32_t slots_;
  const Callbacks callbacks_;

  absl::Mutex mutex_;
  Entries waiting_ ABSL_GUARDED_BY(mutex_);
  Entries running_ ABSL_GUARDED_BY(mutex_);
  std::map<PeakKey, double> peak_flops_ ABSL_GUARDED_BY(mutex_);
  std::set<PeakKey> tried_ ABSL_GUARDED_BY(mutex_);  // kinds of which a trial has ended
  // The most that the host had left since a trial began while no other ran.
  int64_t idle_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace meshwright::agent
