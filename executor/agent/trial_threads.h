// TrialThreads runs an agent's trials, each on some slots of the agent's devices. Trials on
// disjoint slots run concurrently. The threads live as long as the agent, since workers die with
// the thread that spawned them.
//
// Guarantees:
// - Trials that share a slot run in order of arrival.
// - A trial gets the same cores, and at most the same share of the host's memory, whether or not
//   other trials run concurrently.
// - Trials of one kind (device kind, precision and number of ranks) share one measured peak FLOP/s
//   per rank, so that their MFU is comparable. The first trial of a kind measures the peak while no
//   other trial of the kind runs. A gang's trial always measures its own peak.
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

// Runs one trial: RunTrial or RunCommandTrial by the plan, or a test's stand-in.
using TrialRunner =
    std::function<trial::TrialResult(const trial::TrialPlan&, const trial::TrialRunnerOptions&)>;
// Runs an agent's ranks of a gang's trial: RunMember or RunCommandMember, or a test's stand-in.
using GangRunner = std::function<trial::TrialResult(
    const trial::TrialPlan&, const gang::Membership&, const trial::TrialRunnerOptions&)>;

struct TrialRunners {
  TrialRunner alone;
  GangRunner together = {};
  // Binds the calling thread, and so the workers that it starts, to the cores of these slots. May
  // be empty.
  std::function<void(const wire::DeviceShare&)> bind = {};
  // Returns the memory that this host has left for CPU ranks.
  std::function<absl::StatusOr<host::MemoryRoom>()> available_memory = [] {
    return host::AvailableMemory();
  };
};

// A trial to run.
struct TrialJob {
  wire::AttemptKey key;
  trial::TrialPlan plan;
  wire::DeviceShare share;
  std::optional<gang::Membership> membership = {};  // set for a gang's trial
};

class TrialThreads {
 public:
  // Called on a trial's thread; must not block.
  struct Callbacks {
    std::function<void(const wire::AttemptKey&, const trial::TrialProgress&)> progress;
    std::function<void(const wire::AttemptKey&, const trial::TrialResult&)> done;
    // Called before done() with the result of a trial once all ranks have measured, when their
    // processes have not ended yet. Not called for a gang's trial. May be empty.
    std::function<void(const wire::AttemptKey&, const trial::TrialResult&)> measured = {};
    // Called with warnings about a trial that runs nevertheless; may be empty.
    std::function<void(const wire::AttemptKey&, const std::string&)> warn = {};
  };

  TrialThreads(TrialRunners runners, std::string worker_path, int32_t slots, Callbacks callbacks);
  // Kills the workers of running trials and waits for their end. Waiting trials are cancelled.
  ~TrialThreads();

  void Start(TrialJob job);
  // Ends the trial with the outcome cancelled, if it has not ended.
  void Cancel(const wire::AttemptKey& key);

 private:
  struct Entry {
    TrialJob job;
    std::atomic<bool> cancel{false};
    double known_peak_flops = 0.0;  // peak FLOP/s of a rank; if 0, the trial measures the peak
    // Host memory that the trial's ranks will take; 0 on GPUs, and if unknown.
    int64_t needs_bytes = 0;
    std::atomic<bool> has_taken{false};  // whether its ranks already hold needs_bytes

    explicit Entry(TrialJob given) : job(std::move(given)) {}
  };
  using Entries = std::list<Entry>;

  // The kind of a trial, on which a rank's peak FLOP/s depends. The last element is the number of
  // concurrent ranks.
  using PeakKey = std::tuple<planner::DeviceKind, planner::Precision, int64_t>;
  static PeakKey KindOf(const trial::TrialPlan& plan);

  void Loop();
  // Returns the first waiting trial that may run now, or waiting_.end() if there is none.
  Entries::iterator NextToRun() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether the trial only has to be reported as cancelled.
  bool IsCancelled(const Entry& entry) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayRunBeside(const Entry& entry, const Entry& running) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double KnownPeak(const trial::TrialPlan& plan) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  trial::TrialResult Run(Entry& entry);
  // Returns the host memory that the trial may take. This is its slots' share of the host's memory,
  // but at most the free memory minus the memory that trials which started earlier are still going
  // to take.
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
  // Largest free host memory seen since the last time that a trial began while no other trial ran.
  int64_t idle_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace meshwright::agent
