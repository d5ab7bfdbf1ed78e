// RunTrial() runs one trial as worker processes on this machine.
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
  std::string part = {};  // the slice that runs now; empty if the whole layout runs
};

struct TrialRunnerOptions {
  std::string worker_path;  // the meshwright-worker binary
  std::function<void(const TrialProgress&)>
      progress;  // may be empty; called on the runner's thread
  // Called once with the trial's result, when all ranks have reported that they are done but their
  // processes still run. May be empty.
  std::function<void(const TrialResult&)> measured = {};
  const std::atomic<bool>* cancel = nullptr;  // once true, the workers are killed
  // Called with all ranks' traces of the last step, if the plan asks for them and all ranks were
  // done. May be empty.
  std::function<void(const std::vector<RankTrace>&)> trace = {};
  // The first local rank's device on this host; later ranks use the devices after it.
  int32_t first_device = 0;
  // Returns the host's free memory; called before CPU workers start.
  std::function<absl::StatusOr<host::MemoryRoom>()> available_memory = [] {
    return host::AvailableMemory();
  };
  // Memory of each of this host's CUDA devices; empty if unknown.
  std::vector<int64_t> device_memory_bytes = {};
  // Called with warnings about a trial that runs nevertheless; may be empty.
  std::function<void(const std::string&)> warn = {};
  // After the first failure of a rank, the other ranks may still report this long why they fail.
  double grace_s = 2.0;
};

// Spawns plan.layout.devices() workers, waits for their end and returns the result. Every failure
// becomes an outcome of the result: running out of memory, a crash, a hang, a worker that can't be
// started, or ranks that are not started because they don't fit this machine's memory.
//
// REQUIRES: the calling thread outlives the workers, which die when it ends (PR_SET_PDEATHSIG).
TrialResult RunTrial(const TrialPlan& plan, const TrialRunnerOptions& options);

// The outcome of running some ranks of a layout.
struct RanksRun {
  TrialResult result;
  std::vector<RankRecord> records;  // in the order of `ranks`
  // The rank whose failure or silence the result reports; absent if it reports none.
  std::optional<int32_t> cause_rank = std::nullopt;
};
// Runs `ranks` of the layout on this machine as RunTrial() runs all ranks. REQUIRES: if the plan's
// ranks wait for each other, `ranks` has all of them.
RanksRun RunRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                  const TrialRunnerOptions& options);

// Watches ranks that were started before, on any host, until the run ends, and ends them all. The
// result is like that of RunRanks().
RanksRun WatchRanks(const TrialPlan& plan, std::vector<StartedRank> ranks,
                    const TrialRunnerOptions& options);

// Returns a failed result without a measurement.
TrialResult FailedResult(absl::string_view message, Fault fault);
// Returns a cancelled result without a measurement.
TrialResult CancelledResult(absl::string_view message);

// Returns ResourceExhausted if these ranks need more memory than is left
// (executor/trial/memory_check.h). If the plan has no estimate or the host's free memory is
// unknown, warns and returns OK.
absl::Status CheckMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                         const TrialRunnerOptions& options);

}  // namespace meshwright::trial
