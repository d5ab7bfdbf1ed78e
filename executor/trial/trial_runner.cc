#include "executor/trial/trial_runner.h"

#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "executor/trial/capabilities.h"
#include "executor/trial/conclusion.h"
#include "executor/trial/memory_check.h"
#include "executor/trial/rank_record.h"
#include "executor/trial/worker_group.h"

namespace meshwright::trial {
namespace {

class TrialRun {
 public:
  TrialRun(const TrialPlan& plan, const TrialRunnerOptions& options)
      : plan_(plan), options_(options) {}

  absl::Status Start(const std::vector<int32_t>& ranks);
  void Take(std::vector<StartedRank> ranks);
  RanksRun Finish();

 private:
  bool Cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }
  int32_t world_size() const { return static_cast<int32_t>(plan_.layout.devices()); }
  void TellProgress();
  void TellMeasured();
  void TellTrace() const;

  const TrialPlan& plan_;
  const TrialRunnerOptions& options_;
  WorkerGroup workers_{ApplyEvent};
  int32_t told_steps_ = 0;
  bool told_measured_ = false;
};

absl::Status TrialRun::Start(const std::vector<int32_t>& ranks) {
  return workers_.Start({.path = options_.worker_path,
                         .plan = ToJson(plan_).dump(),
                         .first_device = options_.first_device,
                         .world_size = world_size()},
                        ranks);
}

void TrialRun::Take(std::vector<StartedRank> ranks) {
  for (StartedRank& rank : ranks) workers_.Add(std::move(rank));
}

void TrialRun::TellProgress() {
  const FinishedStep finished = LastFinishedStep(workers_.records());
  if (finished.steps == told_steps_) return;
  told_steps_ = finished.steps;
  if (!options_.progress) return;
  options_.progress({.step = finished.steps,
                     .steps = plan_.steps,
                     .step_s = finished.step_s,
                     .loss = finished.loss});
}

RanksRun TrialRun::Finish() {
  for (RankRecord& record : workers_.records()) {
    // Pipeline ranks are the outermost axis.
    record.pipeline_rank = record.rank / (world_size() / plan_.layout.pp);
  }
  const WorkersEnd end = workers_.Watch({.timeout_s = plan_.timeout_s,
                                         .cancelled = [this] { return Cancelled(); },
                                         .heard =
                                             [this] {
                                               TellProgress();
                                               TellMeasured();
                                             },
                                         .grace_s = options_.grace_s});
  const std::vector<RankRecord>& records = workers_.records();
  if (end == WorkersEnd::kCancelled) {
    return {.result = ConcludeCancelled(plan_, records), .records = records};
  }
  if (end == WorkersEnd::kSilent) {
    const int32_t silent = FurthestBehind(records);
    return {.result = ConcludeTimeout(plan_, records, silent),
            .records = records,
            .cause_rank = silent};
  }
  TellTrace();
  RanksRun run{.result = Conclude(plan_, records), .records = records};
  if (const RankRecord* cause = Cause(records)) run.cause_rank = cause->rank;
  return run;
}

void TrialRun::TellMeasured() {
  const std::vector<RankRecord>& records = workers_.records();
  const auto is_done = [](const RankRecord& record) { return record.done; };
  if (told_measured_ || !std::all_of(records.begin(), records.end(), is_done)) return;
  told_measured_ = true;
  if (options_.measured) options_.measured(Conclude(plan_, records));
}

void TrialRun::TellTrace() const {
  if (!options_.trace) return;
  std::vector<RankTrace> traces;
  for (const RankRecord& record : workers_.records()) {
    if (record.trace.has_value()) traces.push_back(*record.trace);
  }
  if (traces.size() == workers_.records().size()) options_.trace(traces);
}

}  // namespace

TrialResult FailedResult(absl::string_view message, Fault fault) {
  TrialResult result;
  result.outcome = TrialOutcome::kFailed;
  result.fault = fault;
  result.message = std::string(message);
  return result;
}

TrialResult CancelledResult(absl::string_view message) {
  TrialResult result = FailedResult(message, Fault::kNone);
  result.outcome = TrialOutcome::kCancelled;
  return result;
}

absl::Status CheckMemory(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                         const TrialRunnerOptions& options) {
  const auto warn = [&](absl::string_view why) {
    if (options.warn) {
      options.warn(absl::StrCat("whether the trial fits the memory here is not checked: ", why));
    }
  };
  if (!BytesOfRanks(plan, ranks).has_value()) {
    warn("its plan has no estimate");
    return absl::OkStatus();
  }
  if (plan.device == planner::DeviceKind::kCuda) {
    return CheckDeviceMemory(plan, ranks, options.device_memory_bytes, options.first_device);
  }
  const absl::StatusOr<host::MemoryRoom> room = options.available_memory();
  if (room.ok()) return CheckHostMemory(plan, ranks, *room);
  warn(room.status().message());
  return absl::OkStatus();
}

RanksRun RunRanks(const TrialPlan& plan, const std::vector<int32_t>& ranks,
                  const TrialRunnerOptions& options) {
  const absl::Status fits = CheckMemory(plan, ranks, options);
  if (!fits.ok()) return {.result = FailedResult(fits.message(), Fault::kLayout), .records = {}};
  TrialRun run(plan, options);
  const absl::Status started = run.Start(ranks);
  if (!started.ok()) {
    return {.result = FailedResult(started.message(), Fault::kInfrastructure), .records = {}};
  }
  return run.Finish();
}

RanksRun WatchRanks(const TrialPlan& plan, std::vector<StartedRank> ranks,
                    const TrialRunnerOptions& options) {
  TrialRun run(plan, options);
  run.Take(std::move(ranks));
  return run.Finish();
}

TrialResult RunTrial(const TrialPlan& plan, const TrialRunnerOptions& options) {
  const absl::Status runnable = CheckRules(plan.model, plan.layout, plan.training, plan.device);
  if (!runnable.ok()) return FailedResult(runnable.message(), Fault::kLayout);
  std::vector<int32_t> ranks(static_cast<size_t>(plan.layout.devices()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return RunRanks(plan, ranks, options).result;
}

}  // namespace meshwright::trial
