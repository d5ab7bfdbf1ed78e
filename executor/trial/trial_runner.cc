#include "executor/trial/trial_runner.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/trial/conclusion.h"
#include "executor/trial/rank_record.h"
#include "executor/trial/worker_process.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

using Clock = std::chrono::steady_clock;

// How long the other ranks may still report after the first failure.
constexpr auto kGrace = std::chrono::milliseconds(2000);
constexpr auto kPollInterval = std::chrono::milliseconds(100);

class TrialRun {
 public:
  TrialRun(const TrialPlan& plan, const TrialRunnerOptions& options)
      : plan_(plan), options_(options) {}

  absl::Status Start();
  TrialResult Finish();

 private:
  struct Worker {
    WorkerProcess process;
    Clock::time_point last_sign;
  };

  bool Cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }
  bool AllEnded() const;
  bool AnyFailed() const;
  std::optional<int32_t> SilentRank(Clock::time_point now) const;
  void WaitForSomething();
  void TakeIn(size_t rank);
  void TellProgress();
  void TellTrace() const;
  void KillAll();

  const TrialPlan& plan_;
  const TrialRunnerOptions& options_;
  std::vector<Worker> workers_;
  std::vector<RankRecord> records_;
  int32_t told_steps_ = 0;
};

absl::Status TrialRun::Start() {
  const auto ranks = static_cast<int32_t>(plan_.layout.devices());
  ASSIGN_OR_RETURN(const Listener listener, ListenOnLoopback());
  WorkerLaunch launch{.path = options_.worker_path,
                      .plan = ToJson(plan_).dump(),
                      .rank = 0,
                      .world_size = ranks,
                      .master_port = listener.port,
                      .listen_fd = -1};
  for (; launch.rank < ranks; ++launch.rank) {
    launch.listen_fd = launch.rank == 0 && ranks > 1 ? listener.socket.get() : -1;
    ASSIGN_OR_RETURN(WorkerProcess process, WorkerProcess::Spawn(launch));
    workers_.push_back({.process = std::move(process), .last_sign = Clock::now()});
    // Pipeline ranks are outermost.
    RankRecord& record = records_.emplace_back();
    record.rank = launch.rank;
    record.pipeline_rank = launch.rank / (ranks / plan_.layout.pp);
  }
  return absl::OkStatus();
}

bool TrialRun::AllEnded() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.process.ended(); });
}

bool TrialRun::AnyFailed() const {
  return std::any_of(records_.begin(), records_.end(),
                     [](const RankRecord& record) { return record.failure.has_value(); });
}

std::optional<int32_t> TrialRun::SilentRank(Clock::time_point now) const {
  for (const Worker& worker : workers_) {
    const std::chrono::duration<double> silence = now - worker.last_sign;
    if (!worker.process.ended() && silence.count() > plan_.timeout_s) {
      return FurthestBehind(records_);
    }
  }
  return std::nullopt;
}

void TrialRun::WaitForSomething() {
  std::vector<pollfd> descriptors;
  for (const Worker& worker : workers_) {
    for (const int fd :
         {worker.process.events_fd(), worker.process.output_fd(), worker.process.exit_fd()}) {
      if (fd >= 0) descriptors.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    }
  }
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(kPollInterval.count()));
  for (size_t rank = 0; rank < workers_.size(); ++rank) TakeIn(rank);
}

void TrialRun::TakeIn(size_t rank) {
  WorkerProcess& process = workers_[rank].process;
  RankRecord& record = records_[rank];
  if (process.ended()) return;
  // Before its pipes are drained for the last time, so that nothing is missed.
  const bool ended = process.TryReap();
  const std::vector<std::string> lines = process.ReadEvents();
  for (const std::string& line : lines) ApplyEvent(line, record);
  if (!lines.empty()) workers_[rank].last_sign = Clock::now();
  process.ReadOutput();
  record.output_tail = process.output_tail();
  if (ended) ApplyExit(process.wait_status(), record);
}

void TrialRun::TellProgress() {
  const FinishedStep finished = LastFinishedStep(records_);
  if (finished.steps == told_steps_) return;
  told_steps_ = finished.steps;
  if (!options_.progress) return;
  options_.progress({.step = finished.steps,
                     .steps = plan_.steps,
                     .step_s = finished.step_s,
                     .loss = finished.loss});
}

void TrialRun::KillAll() { workers_.clear(); }

TrialResult TrialRun::Finish() {
  std::optional<Clock::time_point> give_up;
  while (!AllEnded()) {
    WaitForSomething();
    TellProgress();
    if (Cancelled()) {
      KillAll();
      return ConcludeCancelled(plan_, records_);
    }
    const Clock::time_point now = Clock::now();
    if (!give_up.has_value() && AnyFailed()) give_up = now + kGrace;
    if (give_up.has_value() && now > *give_up) break;
    if (give_up.has_value()) continue;
    if (const auto silent = SilentRank(now)) {
      KillAll();
      return ConcludeTimeout(plan_, records_, *silent);
    }
  }
  KillAll();
  TellTrace();
  return Conclude(plan_, records_);
}

void TrialRun::TellTrace() const {
  if (!options_.trace) return;
  std::vector<RankTrace> traces;
  for (const RankRecord& record : records_) {
    if (record.trace.has_value()) traces.push_back(*record.trace);
  }
  if (traces.size() == records_.size()) options_.trace(traces);
}

TrialResult Failed(absl::string_view message) {
  TrialResult result;
  result.outcome = Outcome::kFailed;
  result.message = std::string(message);
  return result;
}

}  // namespace

TrialResult RunTrial(const TrialPlan& plan, const TrialRunnerOptions& options) {
  const absl::Status runnable = CheckRunnable(plan.model, plan.layout, plan.training, plan.device);
  if (!runnable.ok()) return Failed(runnable.message());
  TrialRun run(plan, options);
  const absl::Status started = run.Start();
  if (!started.ok()) return Failed(started.message());
  return run.Finish();
}

}  // namespace meshwright
