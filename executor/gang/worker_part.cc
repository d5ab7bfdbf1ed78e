#include "executor/gang/worker_part.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text/status_macros.h"
#include "executor/gang/remote_rank.h"
#include "executor/trial/capabilities.h"

namespace meshwright::gang {

absl::Status WorkerPart::Check() const {
  // Followers run what the leader has accepted.
  if (membership_.leads()) {
    RETURN_IF_ERROR(trial::CheckRules(plan_.model, plan_.layout, plan_.training, plan_.device));
  }
  return CheckMemory(plan_, RanksOf(membership_.own()), options_);
}

absl::StatusOr<uint16_t> WorkerPart::OpenStore() {
  ASSIGN_OR_RETURN(store_, trial::ListenOnLoopback());
  return store_.port;
}

absl::StatusOr<std::vector<LocalRank>> WorkerPart::Start(const StoreAddress& store) {
  const std::vector<int32_t> ranks = RanksOf(membership_.own());
  const int64_t devices = plan_.layout.devices();
  // Rank 0 serves the store, and gets its listener.
  const bool serves = membership_.leads() && devices > 1;
  ASSIGN_OR_RETURN(std::vector<trial::WorkerProcess> workers,
                   trial::SpawnWorkers({.path = options_.worker_path,
                                        .plan = ToJson(plan_).dump(),
                                        .first_device = options_.first_device,
                                        .world_size = static_cast<int32_t>(devices),
                                        .address = membership_.address,
                                        .master_port = store.port,
                                        .listen_fd = serves ? store_.socket.get() : -1},
                                       ranks));
  // Closed here, so that connections to the store fail once rank 0 has ended.
  store_.socket.Close();
  std::vector<LocalRank> started;
  for (size_t i = 0; i < ranks.size(); ++i) {
    started.push_back({.rank = ranks[i],
                       .process = std::make_unique<trial::WorkerProcess>(std::move(workers[i]))});
  }
  return started;
}

trial::TrialResult WorkerPart::Watch(std::vector<LocalRank> own, const Followers& followers) {
  std::vector<trial::StartedRank> ranks;
  for (LocalRank& rank : own) {
    ranks.push_back({.rank = rank.rank, .process = std::move(rank.process)});
  }
  for (const auto& follower : followers) {
    for (const int32_t rank : RanksOf(follower->member())) {
      ranks.push_back({.rank = rank, .process = std::make_unique<RemoteRank>(follower, rank)});
    }
  }
  trial::RanksRun run = WatchRanks(plan_, std::move(ranks), options_);
  SayWhoFailed(run);
  return std::move(run.result);
}

bool WorkerPart::CantTellWhose(const trial::RanksRun& run, const trial::RankRecord& cause) const {
  if (cause.failure && cause.failure->kind == trial::FailureKind::kCommunication) return true;
  if (run.result.outcome != trial::TrialOutcome::kTimeout) return false;
  // If ranks of several members are silent in the same step, any of them may be blocking the
  // others.
  return std::any_of(run.records.begin(), run.records.end(), [&](const trial::RankRecord& other) {
    return MemberOf(other.rank) != MemberOf(cause.rank) && !other.done &&
           other.begun_steps == cause.begun_steps;
  });
}

size_t WorkerPart::MemberOf(int32_t rank) const {
  size_t member = 0;
  while (rank >= membership_.members[member].first_rank + membership_.members[member].ranks) {
    ++member;
  }
  return member;
}

void WorkerPart::SayWhoFailed(trial::RanksRun& run) const {
  if (!run.cause_rank || run.result.outcome == trial::TrialOutcome::kOom) return;
  const auto cause =
      std::find_if(run.records.begin(), run.records.end(),
                   [&](const trial::RankRecord& other) { return other.rank == *run.cause_rank; });
  if (CantTellWhose(run, *cause)) {
    run.result.fault = trial::Fault::kNetwork;
    return;
  }
  const size_t member = MemberOf(cause->rank);
  if (member > 0) run.result.failed_agent = membership_.members[member].agent;
}

}  // namespace meshwright::gang
