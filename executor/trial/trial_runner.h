// Runs one trial as worker processes on this machine.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "executor/host/host_memory.h"
#include "executor/trial/rank_process.h"
#include "executor/trial/rank_record.h"
#include "executor/trial/step_trace.h"
#include "executor/trial/trial.h"

namespace meshwright::trial {

struct TrialProgress {
  int32_t step = 0;  // steps finished
  int32_t steps = 0;
  double step_s = 0.0;
  std::optional<double> loss = std::nullopt;
  std::string part = {};  // that is run now, where it isn't the whole layout
};

struct TrialRunnerOptions {
  std::string worker_path;  // the meshwright-worker binary
  std::function<void(const TrialProgress&)>
      progress;                               // may be empty; called on the runner's thread
  const std::atomic<bool>* cancel = nullptr;  // when it turns true the workers are killed
  // What a trial that ended well tells of its last step, where the plan wants it; may be empty.
  std::function<void(const std::vector<RankTrace>&)> trace = {};
  // Of this host the device of the first rank here; those of the others follow it.
  int32_t first_device = 0;
  // What this host has left: asked before workers on its processor are started.
  std::function<absl::StatusOr<host::MemoryRoom>()> available_memory = [] {
    return host::AvailableMemory();
  };
  // Of this host's CUDA devices; empty where it is not known.
  std::vector<int64_t> device_memory_bytes = {};
  // What keeps no trial from running but should be known; may be empty.
  std::function<void(const std::string&)> warn = {};
};

// Spawns plan.layout.devices() workers, waits for their end and reports what came of it. Always
// returns a typed outcome: an out-of-memory, a crash, a hang, a worker that can't start and ranks
// that this machine has no memory for, which are not started, are results, not errors. The calling
// thread must outlive the workers: they die when it ends (PR_SET_PDEATHSIG).
TrialResult RunTrial(const TrialPlan& plan, const TrialRunnerOptions& options);

// The same for some ranks of the layout alone, with what is known of each; a plan whose ranks wait
// for each other needs all of them.
struct RanksRun {
  TrialResult result;
  std::vector<RankRecord> records;  // in the order of `ranks`
  // The rank whose failure or silence the result tells of; nothing where it tells of none.
  std::optional<int32_t> cause_rank = std::nullopt;
};
RanksRun RunRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                  const TrialRunnerOptions& options);

// The same for ranks that were started before, wherever they are. They are all ended.
RanksRun WatchRanks(const TrialPlan& plan, std::vector<StartedRank> ranks,
                    const TrialRunnerOptions& options);

// Results without a measurement.
TrialResult FailedResult(absl::string_view message, Fault fault);
TrialResult CancelledResult(absl::string_view message);

// OK, or ResourceExhausted where these ranks at once would take more memory than is left
// (executor/trial/memory_check.h). Warns where that can't be known.
absl::Status CheckMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                         const TrialRunnerOptions& options);

}  // namespace meshwright::trial
