// RemoteRank lets the leader read and end a process of another member, named by its first rank, as
// if it were a process of this host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/gang/remote_member.h"
#include "executor/trial/rank_process.h"

namespace meshwright::gang {

class RemoteRank final : public trial::RankProcess {
 public:
  RemoteRank(std::shared_ptr<RemoteMember> member, int32_t rank)
      : member_(std::move(member)), rank_(rank) {}

  void AddDescriptors(std::vector<pollfd>& descriptors) const override {
    member_->AddDescriptor(descriptors);
  }
  bool TryReap() override;
  std::vector<std::string> ReadEvents() override;
  void ReadOutput() override {}
  const std::string& output_tail() const override;

  // Ends all ranks of the member, since they end together.
  void Kill() override { member_->End(); }
  // Waits for the member to report the end, for at most `limit`. If the member reports nothing, its
  // processes end when the connection closes.
  bool End(std::chrono::milliseconds limit) override;
  bool ended() const override { return ended_; }
  pid_t pid() const override;
  void TellEnd(trial::RankRecord& record) const override;
  double clock_ahead_s() const override { return member_->clock_ahead_s(); }

 private:
  RemoteMember::RankNews& news() const { return member_->news(rank_); }

  const std::shared_ptr<RemoteMember> member_;
  const int32_t rank_;
  bool ended_ = false;  // set by TryReap() and End()
};

}  // namespace meshwright::gang
