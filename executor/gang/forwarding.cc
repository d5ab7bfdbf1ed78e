#include "executor/gang/forwarding.h"

#include <optional>
#include <utility>

namespace meshwright::gang {
namespace {

constexpr int kForwardingPollMs = 100;
constexpr size_t kMostUnsentBytes = size_t{16} << 20;

}  // namespace

void Forwarding::Step() {
  WaitForSomething();
  link_.Pump();
  for (const LocalRank& rank : ranks_) {
    if (!rank.process->ended() && !is_behind()) Forward(rank);
  }
}

void Forwarding::EndAll(std::chrono::milliseconds limit) {
  for (const LocalRank& rank : ranks_) rank.process->Kill();
  const auto until = std::chrono::steady_clock::now() + limit;
  for (const LocalRank& rank : ranks_) {
    if (rank.process->ended()) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    const bool is_left = !rank.process->End(left);
    rank.process->ReadOutput();
    TellExit(rank, is_left);
  }
  ranks_.clear();
}

void Forwarding::WaitForSomething() const {
  std::vector<pollfd> descriptors;
  link_.AddDescriptor(descriptors);
  for (const LocalRank& rank : ranks_) {
    if (!rank.process->ended() && !is_behind()) rank.process->AddDescriptors(descriptors);
  }
  ::poll(descriptors.data(), descriptors.size(), kForwardingPollMs);
}

void Forwarding::Forward(const LocalRank& rank) {
  // Reap before the pipes are drained for the last time, so that no output is missed.
  const bool ended = rank.process->TryReap();
  for (std::string& line : rank.process->ReadEvents()) {
    link_.Send(EventFrame{.rank = rank.rank, .line = std::move(line)});
  }
  rank.process->ReadOutput();
  if (ended) TellExit(rank, /*left=*/false);
}

void Forwarding::TellExit(const LocalRank& rank, bool left) {
  link_.Send(
      ExitFrame{.rank = rank.rank,
                .wait_status = rank.process->wait_status(),
                .output_tail = rank.process->output_tail(),
                .left_pid = left ? std::optional<int32_t>(rank.process->pid()) : std::nullopt});
}

bool Forwarding::is_behind() const { return link_.unsent_bytes() > kMostUnsentBytes; }

}  // namespace meshwright::gang
