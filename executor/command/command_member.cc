#include "executor/command/command_member.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text/status_macros.h"
#include "executor/command/command_process.h"
#include "executor/command/command_watch.h"
#include "executor/gang/gang_runner.h"
#include "executor/gang/remote_rank.h"
#include "executor/host/host.h"

namespace meshwright::command {
namespace {

// Returns how a follower's command ended. REQUIRES: its RemoteRank has ended.
NodeEnd EndOf(gang::RemoteMember& member) {
  const gang::RemoteMember::RankNews& news = member.news(member.member().first_rank);
  if (news.exit) return {.end = OfWaitStatus(news.exit->wait_status)};
  return {.end = {}, .loss = member.failure()->message, .fault = member.failure()->fault};
}

class CommandPart final : public gang::HostPart {
 public:
  CommandPart(const trial::TrialPlan& plan, const Runner& runner, const CommandHost& host,
              const gang::Membership& membership, const trial::TrialRunnerOptions& options)
      : plan_(plan), runner_(runner), host_(host), membership_(membership), options_(options) {}

  absl::Status Check() const override { return Render(runner_, plan_, Place({}), host_).status(); }
  absl::StatusOr<uint16_t> OpenStore() override { return FreePort(); }
  bool is_tunnelled() const override { return false; }
  absl::StatusOr<std::vector<gang::LocalRank>> Start(const gang::StoreAddress& store) override;
  std::chrono::milliseconds longest_kill() const override { return kLongestEnd; }
  trial::TrialResult Watch(std::vector<gang::LocalRank> own,
                           const gang::Followers& followers) override;

 private:
  CommandPlace Place(const gang::StoreAddress& store) const;

  const trial::TrialPlan& plan_;
  const Runner& runner_;
  const CommandHost& host_;
  const gang::Membership& membership_;
  const trial::TrialRunnerOptions& options_;
};

CommandPlace CommandPart::Place(const gang::StoreAddress& store) const {
  return {.address = store.host,
          .port = store.port,
          .node = membership_.member,
          .nodes = static_cast<int32_t>(membership_.members.size()),
          .ranks = membership_.own().ranks,
          .first_device = options_.first_device};
}

absl::StatusOr<std::vector<gang::LocalRank>> CommandPart::Start(const gang::StoreAddress& store) {
  ASSIGN_OR_RETURN(CommandProcess process,
                   CommandProcess::Start(runner_, plan_, Place(store), host_));
  std::vector<gang::LocalRank> started;
  started.push_back({.rank = membership_.own().first_rank,
                     .process = std::make_unique<CommandProcess>(std::move(process))});
  return started;
}

trial::TrialResult CommandPart::Watch(std::vector<gang::LocalRank> own,
                                      const gang::Followers& followers) {
  // Start() made it.
  auto& process = static_cast<CommandProcess&>(*own.front().process);
  std::vector<WatchedNode> nodes = {
      {.at = {.agent = "", .first_rank = membership_.own().first_rank},
       .process = &process,
       .end = [&] { return NodeEnd{.end = process.command_end()}; }}};
  std::vector<std::unique_ptr<gang::RemoteRank>> remote;
  for (const auto& follower : followers) {
    const gang::Member& member = follower->member();
    remote.push_back(std::make_unique<gang::RemoteRank>(follower, member.first_rank));
    nodes.push_back({.at = {.agent = member.agent, .first_rank = member.first_rank},
                     .process = remote.back().get(),
                     .end = [follower] { return EndOf(*follower); }});
  }
  return WatchCommand(plan_, runner_, process.line(), nodes, options_);
}

}  // namespace

trial::TrialResult RunCommandMember(const trial::TrialPlan& plan, const Runner& runner,
                                    const CommandHost& host, const gang::Membership& membership,
                                    const trial::TrialRunnerOptions& options,
                                    const gang::Timing& timing) {
  CommandPart part(plan, runner, host, membership, options);
  trial::TrialResult result =
      gang::RunMember(part, plan.layout.devices(), membership, options, timing);
  if (result.host.empty()) result.host = host::HostName();
  return result;
}

}  // namespace meshwright::command
