#include "executor/gang/remote_rank.h"

#include <utility>

#include "executor/trial/rank_record.h"

namespace meshwright::gang {

bool RemoteRank::TryReap() {
  if (ended_) return true;
  member_->Pump();
  ended_ = news().exit.has_value() || member_->failure().has_value();
  return ended_;
}

std::vector<std::string> RemoteRank::ReadEvents() { return std::exchange(news().lines, {}); }

const std::string& RemoteRank::output_tail() const {
  static const std::string none;
  return news().exit.has_value() ? news().exit->output_tail : none;
}

bool RemoteRank::End(std::chrono::milliseconds limit) {
  Kill();
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!TryReap() && std::chrono::steady_clock::now() < until) {
    std::vector<pollfd> descriptors;
    AddDescriptors(descriptors);
    ::poll(descriptors.data(), descriptors.size(), /*timeout=*/20);
  }
  ended_ = true;
  return !news().exit.has_value() || !news().exit->left_pid.has_value();
}

pid_t RemoteRank::pid() const {
  return news().exit.has_value() ? news().exit->left_pid.value_or(-1) : -1;
}

void RemoteRank::TellEnd(trial::RankRecord& record) const {
  if (news().exit.has_value()) {
    trial::ApplyExit(news().exit->wait_status, record);
  } else if (member_->failure().has_value()) {
    trial::ApplyLoss("can't go on: " + member_->failure()->message, member_->failure()->fault,
                     record);
  }
}

}  // namespace meshwright::gang
