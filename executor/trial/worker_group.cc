#include "executor/trial/worker_group.h"

#include <poll.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/text/status_macros.h"
#include "base/text/utf8.h"

namespace meshwright::trial {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(100);
// A worker may take this long to end once all workers are done.
constexpr double kLongestExitS = 30.0;

}  // namespace

absl::Status WorkerGroup::Start(const std::string& worker_path, const std::string& plan,
                                int32_t ranks) {
  std::vector<int32_t> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return Start({.path = worker_path, .plan = plan, .world_size = ranks}, all);
}

absl::Status WorkerGroup::Start(WorkerLaunch launch, const std::vector<int32_t>& ranks) {
  ASSIGN_OR_RETURN(const Listener listener, ListenOnLoopback());
  launch.master_port = listener.port;
  launch.listen_fd = ranks.size() > 1 ? listener.socket.get() : -1;
  ASSIGN_OR_RETURN(std::vector<WorkerProcess> workers, SpawnWorkers(std::move(launch), ranks));
  for (size_t i = 0; i < ranks.size(); ++i) {
    Add({.rank = ranks[i], .process = std::make_unique<WorkerProcess>(std::move(workers[i]))});
  }
  return absl::OkStatus();
}

void WorkerGroup::Add(StartedRank started) {
  workers_.push_back({.process = std::move(started.process), .last_sign = Clock::now()});
  records_.emplace_back().rank = started.rank;
}

WorkersEnd WorkerGroup::Watch(const WatchOptions& options) {
  const WorkersEnd end = Listen(options);
  EndAll();
  return end;
}

WorkersEnd WorkerGroup::Listen(const WatchOptions& options) {
  std::optional<Clock::time_point> give_up;
  while (!AllEnded()) {
    WaitForSomething();
    if (options.heard) options.heard();
    if (options.cancelled && options.cancelled()) return WorkersEnd::kCancelled;
    const Clock::time_point now = Clock::now();
    if (!give_up.has_value() && AnyFailed()) {
      give_up = now + std::chrono::milliseconds(static_cast<int64_t>(options.grace_s * 1000.0));
    }
    if (give_up.has_value() && now > *give_up) break;
    if (give_up.has_value()) continue;
    if (AnySilent(now, options.timeout_s, /*done=*/false)) return WorkersEnd::kSilent;
    if (AllDone() && AnySilent(now, std::min(options.timeout_s, kLongestExitS), /*done=*/true)) {
      break;
    }
  }
  return WorkersEnd::kEnded;
}

void WorkerGroup::EndAll() {
  const bool all_done = AllDone();
  for (const Worker& worker : workers_) worker.process->Kill();
  const Clock::time_point until = Clock::now() + kLongestKill;
  for (size_t i = 0; i < workers_.size(); ++i) {
    RankProcess& process = *workers_[i].process;
    RankRecord& record = records_[i];
    if (!process.ended()) {
      if (all_done) record.after_done.emplace_back("did not end and was killed");
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      if (!process.End(left)) record.left_pid = process.pid();
      record.output_tail = ValidUtf8(process.output_tail());
    }
    ShiftTimes(-process.clock_ahead_s(), record);
  }
  workers_.clear();
}

bool WorkerGroup::AllEnded() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.process->ended(); });
}

bool WorkerGroup::AnyFailed() const {
  return std::any_of(records_.begin(), records_.end(),
                     [](const RankRecord& record) { return record.failure.has_value(); });
}

bool WorkerGroup::AnySilent(Clock::time_point now, double timeout_s, bool done) const {
  for (size_t i = 0; i < workers_.size(); ++i) {
    const std::chrono::duration<double> silence = now - workers_[i].last_sign;
    if (records_[i].done == done && !workers_[i].process->ended() && silence.count() > timeout_s) {
      return true;
    }
  }
  return false;
}

bool WorkerGroup::AllDone() const {
  return std::all_of(records_.begin(), records_.end(),
                     [](const RankRecord& record) { return record.done; });
}

void WorkerGroup::WaitForSomething() {
  std::vector<pollfd> descriptors;
  for (const Worker& worker : workers_) {
    if (!worker.process->ended()) worker.process->AddDescriptors(descriptors);
  }
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(kPollInterval.count()));
  for (size_t rank = 0; rank < workers_.size(); ++rank) TakeIn(rank);
}

void WorkerGroup::TakeIn(size_t rank) {
  RankProcess& process = *workers_[rank].process;
  RankRecord& record = records_[rank];
  if (process.ended()) return;
  // Reap before the pipes are drained for the last time, so that no output is missed.
  const bool ended = process.TryReap();
  const std::vector<std::string> lines = process.ReadEvents();
  for (const std::string& line : lines) take_event_(line, record);
  if (!lines.empty()) workers_[rank].last_sign = Clock::now();
  process.ReadOutput();
  // The tail may begin inside a character, and programs may print any bytes.
  record.output_tail = ValidUtf8(process.output_tail());
  if (ended) process.TellEnd(record);
}

}  // namespace meshwright::trial
