// The leader's part of a gang's run.
#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "base/text/status_macros.h"
#include "executor/gang/arrivals.h"
#include "executor/gang/gang_runner.h"
#include "executor/gang/joining.h"
#include "executor/gang/relay.h"
#include "executor/gang/remote_rank.h"
#include "executor/trial/capabilities.h"
#include "executor/trial/worker_process.h"

namespace meshwright::gang {
namespace {

using trial::CancelledResult;
using trial::FailedResult;
using trial::Fault;
using trial::TrialResult;

// Relays members' links to `arrivals` and workers to rank 0's store, which listens on `store_port`.
RelayOptions AtListener(const Membership& membership, const Timing& timing, uint16_t store_port,
                        Arrivals& arrivals) {
  RelayOptions options;
  options.listener = membership.listener->socket();
  options.clock = timing.clock;
  options.admit = [&membership, &timing](UniqueFd accepted) -> absl::StatusOr<Newcomer> {
    const MonotonicTime deadline = timing.clock() + absl::Seconds(timing.handshake_s);
    ASSIGN_OR_RETURN(Greeting greeting,
                     Greeting::OfListener(std::move(accepted), membership.secret, deadline));
    return Newcomer{.greeting = std::move(greeting), .worker = {}};
  };
  options.join = [&arrivals, store_port](Newcomer newcomer) -> std::optional<TunnelEnds> {
    UniqueFd socket = newcomer.greeting.TakeSocket();
    if (newcomer.greeting.purpose() == Purpose::kLink) {
      arrivals.Push(std::move(socket));
      return std::nullopt;
    }
    absl::StatusOr<UniqueFd> store = Dial(Loopback(store_port));
    if (!store.ok()) return std::nullopt;
    return TunnelEnds{.near = *std::move(store), .far = std::move(socket)};
  };
  return options;
}

class LeaderRun {
 public:
  LeaderRun(const trial::TrialPlan& plan, const Membership& membership,
            const trial::TrialRunnerOptions& options, const Timing& timing)
      : plan_(plan), membership_(membership), options_(options), timing_(timing) {}

  TrialResult Run();

 private:
  bool Cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }
  // REQUIRES: all followers have joined.
  TrialResult RunRanks(const std::vector<std::shared_ptr<RemoteMember>>& followers);
  absl::StatusOr<std::vector<trial::StartedRank>> StartOwn();
  void SayWhoFailed(trial::RanksRun& run) const;
  bool CantTellWhose(const trial::RanksRun& run, const trial::RankRecord& cause) const;
  size_t MemberOf(int32_t rank) const;

  const trial::TrialPlan& plan_;
  const Membership& membership_;
  const trial::TrialRunnerOptions& options_;
  const Timing& timing_;
  trial::Listener store_;
  Arrivals arrivals_;
};

TrialResult LeaderRun::Run() {
  const absl::Status fits = CheckMemory(plan_, RanksOf(membership_.own()), options_);
  if (!fits.ok()) return FailedResult(fits.message(), Fault::kLayout);
  absl::StatusOr<trial::Listener> store = trial::ListenOnLoopback();
  if (!store.ok()) return FailedResult(store.status().message(), Fault::kInfrastructure);
  store_ = *std::move(store);
  const auto relay = Relay::Start(AtListener(membership_, timing_, store_.port, arrivals_));
  if (!relay.ok()) return FailedResult(relay.status().message(), Fault::kInfrastructure);
  Joining joining(membership_, timing_, arrivals_);
  auto failed = joining.Wait([this] { return Cancelled(); });
  arrivals_.Close();
  if (failed) {
    // The followers that joined are not at fault: end them.
    for (const auto& follower : joining.members()) follower->End();
    return *std::move(failed);
  }
  return RunRanks(joining.members());
}

absl::StatusOr<std::vector<trial::StartedRank>> LeaderRun::StartOwn() {
  const std::vector<int32_t> ranks = RanksOf(membership_.own());
  const int64_t devices = plan_.layout.devices();
  ASSIGN_OR_RETURN(std::vector<trial::WorkerProcess> workers,
                   trial::SpawnWorkers({.path = options_.worker_path,
                                        .plan = ToJson(plan_).dump(),
                                        .first_device = options_.first_device,
                                        .world_size = static_cast<int32_t>(devices),
                                        .address = membership_.address,
                                        .master_port = store_.port,
                                        .listen_fd = devices > 1 ? store_.socket.get() : -1},
                                       ranks));
  // Closed here, so that connections to the store fail once rank 0 has ended.
  store_.socket.Close();
  std::vector<trial::StartedRank> started;
  for (size_t i = 0; i < ranks.size(); ++i) {
    started.push_back({.rank = ranks[i],
                       .process = std::make_unique<trial::WorkerProcess>(std::move(workers[i]))});
  }
  return started;
}

TrialResult LeaderRun::RunRanks(const std::vector<std::shared_ptr<RemoteMember>>& followers) {
  absl::StatusOr<std::vector<trial::StartedRank>> ranks = StartOwn();
  if (!ranks.ok()) {
    for (const auto& follower : followers) follower->End();
    return FailedResult(ranks.status().message(), Fault::kInfrastructure);
  }
  for (const auto& follower : followers) {
    follower->Start();
    for (const int32_t rank : RanksOf(follower->member())) {
      ranks->push_back({.rank = rank, .process = std::make_unique<RemoteRank>(follower, rank)});
    }
  }
  trial::RanksRun run = WatchRanks(plan_, *std::move(ranks), options_);
  for (const auto& follower : followers) {
    if (follower->withdrew()) return CancelledResult(follower->failure()->message);
  }
  SayWhoFailed(run);
  return std::move(run.result);
}

bool LeaderRun::CantTellWhose(const trial::RanksRun& run, const trial::RankRecord& cause) const {
  if (cause.failure && cause.failure->kind == trial::FailureKind::kCommunication) return true;
  if (run.result.outcome != trial::TrialOutcome::kTimeout) return false;
  // If ranks of several members are silent in the same step, any of them may be blocking the
  // others.
  return std::any_of(run.records.begin(), run.records.end(), [&](const trial::RankRecord& other) {
    return MemberOf(other.rank) != MemberOf(cause.rank) && !other.done &&
           other.begun_steps == cause.begun_steps;
  });
}

size_t LeaderRun::MemberOf(int32_t rank) const {
  size_t member = 0;
  while (rank >= membership_.members[member].first_rank + membership_.members[member].ranks) {
    ++member;
  }
  return member;
}

void LeaderRun::SayWhoFailed(trial::RanksRun& run) const {
  if (!run.cause_rank || run.result.outcome == trial::TrialOutcome::kOom) return;
  const auto cause =
      std::find_if(run.records.begin(), run.records.end(),
                   [&](const trial::RankRecord& other) { return other.rank == *run.cause_rank; });
  if (CantTellWhose(run, *cause)) {
    run.result.fault = Fault::kNetwork;
    return;
  }
  const size_t member = MemberOf(cause->rank);
  if (member > 0) run.result.failed_agent = membership_.members[member].agent;
}

}  // namespace

TrialResult Lead(const trial::TrialPlan& plan, const Membership& membership,
                 const trial::TrialRunnerOptions& options, const Timing& timing) {
  const absl::Status runnable =
      trial::CheckRules(plan.model, plan.layout, plan.training, plan.device);
  if (!runnable.ok()) return FailedResult(runnable.message(), Fault::kLayout);
  return LeaderRun(plan, membership, options, timing).Run();
}

}  // namespace meshwright::gang
