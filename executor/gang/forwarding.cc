#include "executor/gang/forwarding.h"

#include <chrono>
#include <optional>
#include <utility>

namespace meshwright::gang {
namespace {

constexpr int kForwardingPollMs = 100;
constexpr size_t kMostUnsentBytes = size_t{16} << 20;

}  // namespace

Forwarding::Forwarding(std::vector<trial::WorkerProcess> workers, std::vector<int32_t> ranks,
                       LeaderLink& link)
    : link_(link) {
  for (size_t i = 0; i < workers.size(); ++i) {
    workers_.push_back({.process = std::move(workers[i]), .rank = ranks[i]});
  }
}

void Forwarding::Step() {
  WaitForSomething();
  link_.Pump();
  for (Worker& worker : workers_) {
    if (!worker.process.ended() && !is_behind()) Forward(worker);
  }
}

void Forwarding::EndAll() {
  for (Worker& worker : workers_) worker.process.Kill();
  const auto until = std::chrono::steady_clock::now() + trial::kLongestKill;
  for (Worker& worker : workers_) {
    if (worker.process.ended()) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    const bool is_left = !worker.process.End(left);
    worker.process.ReadOutput();
    TellExit(worker, is_left);
  }
  workers_.clear();
}

void Forwarding::WaitForSomething() const {
  std::vector<pollfd> descriptors;
  link_.AddDescriptor(descriptors);
  for (const Worker& worker : workers_) {
    if (!worker.process.ended() && !is_behind()) worker.process.AddDescriptors(descriptors);
  }
  ::poll(descriptors.data(), descriptors.size(), kForwardingPollMs);
}

void Forwarding::Forward(Worker& worker) {
  // Reap before the pipes are drained for the last time, so that no output is missed.
  const bool ended = worker.process.TryReap();
  for (std::string& line : worker.process.ReadEvents()) {
    link_.Send(EventFrame{.rank = worker.rank, .line = std::move(line)});
  }
  worker.process.ReadOutput();
  if (ended) TellExit(worker, /*left=*/false);
}

void Forwarding::TellExit(const Worker& worker, bool left) {
  link_.Send(
      ExitFrame{.rank = worker.rank,
                .wait_status = worker.process.wait_status(),
                .output_tail = worker.process.output_tail(),
                .left_pid = left ? std::optional<int32_t>(worker.process.pid()) : std::nullopt});
}

bool Forwarding::is_behind() const { return link_.unsent_bytes() > kMostUnsentBytes; }

}  // namespace meshwright::gang
