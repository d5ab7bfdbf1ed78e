// Runs one trial as worker processes on this machine.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/trial/rank_record.h"
#include "executor/trial/step_trace.h"
#include "executor/trial/trial.h"

namespace meshwright {

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
};

// Spawns plan.layout.devices() workers, waits for their end and reports what came of it. Always
// returns a typed outcome: an out-of-memory, a crash, a hang and a worker that can't start are
// results, not errors. The calling thread must outlive the workers: they die when it ends
// (PR_SET_PDEATHSIG).
TrialResult RunTrial(const TrialPlan& plan, const TrialRunnerOptions& options);

// The same for some ranks of the layout alone, with what is known of each; a plan whose ranks wait
// for each other needs all of them.
struct RanksRun {
  TrialResult result;
  std::vector<RankRecord> records;  // in the order of `ranks`
};
RanksRun RunRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                  const TrialRunnerOptions& options);

// What the workers can run: OK, or Unimplemented naming the axis and the values that are supported.
absl::Status CheckRunnable(const ModelSpec& model, const Layout& layout,
                           const TrainingSpec& training, DeviceKind device);

}  // namespace meshwright
