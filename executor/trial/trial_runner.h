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
  std::string part = {};  // the part that runs now, where it isn't the whole layout
};

struct TrialRunnerOptions {
  std::string worker_path;  // the meshwright-worker binary
  std::function<void(const TrialProgress&)>
      progress;                               // may be empty; called on the runner's thread
  const std::atomic<bool>* cancel = nullptr;  // once true, the workers are killed
  // Called with the last step's traces of a trial that ended well, where the plan asks for them;
  // may be empty.
  std::function<void(const std::vector<RankTrace>&)> trace = {};
  // The first local rank's device on this host; later ranks use the devices after it.
  int32_t first_device = 0;
  // Returns the host's free memory; called before CPU workers start.
  std::function<absl::StatusOr<host::MemoryRoom>()> available_memory = [] {
    return host::AvailableMemory();
  };
  // Memory of this host's CUDA devices; empty where unknown.
  std::vector<int64_t> device_memory_bytes = {};
  // Called with warnings that prevent no trial; may be empty.
  std::function<void(const std::string&)> warn = {};
};

// Spawns plan.layout.devices() workers, waits for their end and returns the result. Always returns
// a typed outcome: out-of-memory, crash, hang, a worker that can't start, and ranks that don't fit
// this machine's memory (which are not started) are results, not errors. The calling thread must
// outlive the workers: they die when it ends (PR_SET_PDEATHSIG).
TrialResult RunTrial(const TrialPlan& plan, const TrialRunnerOptions& options);

// RunTrial() for some ranks of the layout, with their records. A plan whose ranks wait for each
// other needs all of them.
struct RanksRun {
  TrialResult result;
  std::vector<RankRecord> records;  // in the order of `ranks`
  // The rank whose failure or silence the result reports; nothing where it reports none.
  std::optional<int32_t> cause_rank = std::nullopt;
};
RanksRun RunRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                  const TrialRunnerOptions& options);

// RunRanks() for ranks that were started already, on any host. Ends them all.
RanksRun WatchRanks(const TrialPlan& plan, std::vector<StartedRank> ranks,
                    const TrialRunnerOptions& options);

// Results without a measurement.
TrialResult FailedResult(absl::string_view message, Fault fault);
TrialResult CancelledResult(absl::string_view message);

// OK, or ResourceExhausted where these ranks would together need more memory than is left
// (executor/trial/memory_check.h). Warns where that is unknown.
absl::Status CheckMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                         const TrialRunnerOptions& options);

}  // namespace meshwright::trial
