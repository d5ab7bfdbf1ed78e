#include "executor/gang/far_rank.h"

#include <utility>

#include "executor/trial/rank_record.h"

namespace meshwright::gang {

bool FarRank::TryReap() {
  if (ended_) return true;
  member_->Pump();
  ended_ = news().exit.has_value() || member_->failure().has_value();
  return ended_;
}

std::vector<std::string> FarRank::ReadEvents() { return std::exchange(news().lines, {}); }

const std::string& FarRank::output_tail() const {
  static const std::string none;
  return news().exit.has_value() ? news().exit->output_tail : none;
}

bool FarRank::End(std::chrono::milliseconds limit) {
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

pid_t FarRank::pid() const {
  return news().exit.has_value() ? news().exit->left_pid.value_or(-1) : -1;
}

void FarRank::TellEnd(trial::RankRecord& record) const {
  if (news().exit.has_value()) {
    trial::ApplyExit(news().exit->wait_status, record);
  } else if (member_->failure().has_value()) {
    trial::ApplyLoss("can't go on: " + member_->failure()->message, member_->failure()->fault,
                     record);
  }
}

}  // namespace meshwright::gang
