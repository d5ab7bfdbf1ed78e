// Runs trials one after the other on one thread that lives as long as the agent: workers die with
// the thread that spawned them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "executor/agent/attempt_key.h"
#include "executor/agent/inbox.h"
#include "executor/gang/gang.h"
#include "executor/trial/trial_runner.h"

namespace meshwright::agent {

// Runs one trial: RunTrial, or a test's own.
using TrialRunner =
    std::function<trial::TrialResult(const trial::TrialPlan&, const trial::TrialRunnerOptions&)>;
// Runs an agent's ranks of one that several run together: RunMember, or a test's own.
using GangRunner = std::function<trial::TrialResult(const trial::TrialPlan&, const gang::Place&,
                                                    const trial::TrialRunnerOptions&)>;

struct TrialRunners {
  TrialRunner alone;
  GangRunner together = {};
};

class TrialThread {
 public:
  // Called on the trial thread; must not block.
  struct Callbacks {
    std::function<void(const AttemptKey&, const trial::TrialProgress&)> progress;
    std::function<void(const AttemptKey&, const trial::TrialResult&)> done;
    // What keeps no trial from running but should be known; may be empty.
    std::function<void(const AttemptKey&, const std::string&)> warn = {};
  };

  TrialThread(TrialRunners runners, std::string worker_path, Callbacks callbacks);
  // Kills the workers of a running trial and waits for its end.
  ~TrialThread();

  // `place`: where the agent stands among several that run it.
  void Start(const AttemptKey& key, const trial::TrialPlan& plan,
             std::optional<gang::Place> place = std::nullopt);
  // The trial ends with the outcome cancelled, if it is still the one that runs or is queued.
  void Cancel(const AttemptKey& key);

 private:
  struct Job {
    AttemptKey key;
    trial::TrialPlan plan;
    std::optional<gang::Place> place = {};
  };

  // What a rank's peak depends on; measured by the first trial of a kind and the same for those
  // that follow, so that their MFU compares.
  using PeakKey = std::tuple<planner::DeviceKind, planner::Precision,
                             int64_t>;  // the last: ranks that run at once

  void Loop();
  void RunJob(const Job& job);
  trial::TrialResult Run(const Job& job);

  const TrialRunners runners_;
  const std::string worker_path_;
  const Callbacks callbacks_;
  Inbox<std::optional<Job>> jobs_;        // nullopt ends the thread
  std::map<PeakKey, double> peak_flops_;  // only the trial thread touches it

  absl::Mutex mutex_;
  std::optional<AttemptKey> current_ ABSL_GUARDED_BY(mutex_);
  std::optional<AttemptKey> cancelled_ ABSL_GUARDED_BY(mutex_);  // before it began
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> cancel_{false};
  std::thread thread_;
};

}  // namespace meshwright::agent
