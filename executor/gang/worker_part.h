// WorkerPart is a member's part of a trial that Meshwright's own workers run: a worker for each of
// its ranks.
#pragma once

#include <vector>

#include "executor/gang/gang.h"
#include "executor/gang/host_part.h"
#include "executor/trial/trial_runner.h"
#include "executor/trial/worker_process.h"

namespace meshwright::gang {

class WorkerPart final : public HostPart {
 public:
  // REQUIRES: all three outlive this object. The calling thread outlives the workers, which die
  // when it ends (PR_SET_PDEATHSIG).
  WorkerPart(const trial::TrialPlan& plan, const Membership& membership,
             const trial::TrialRunnerOptions& options)
      : plan_(plan), membership_(membership), options_(options) {}

  absl::Status Check() const override;
  absl::StatusOr<uint16_t> OpenStore() override;
  bool is_tunnelled() const override { return true; }
  absl::StatusOr<std::vector<LocalRank>> Start(const StoreAddress& store) override;
  std::chrono::milliseconds longest_kill() const override { return trial::kLongestKill; }
  trial::TrialResult Watch(std::vector<LocalRank> own, const Followers& followers) override;

 private:
  void SayWhoFailed(trial::RanksRun& run) const;
  bool CantTellWhose(const trial::RanksRun& run, const trial::RankRecord& cause) const;
  size_t MemberOf(int32_t rank) const;

  const trial::TrialPlan& plan_;
  const Membership& membership_;
  const trial::TrialRunnerOptions& options_;
  trial::Listener store_;
};

}  // namespace meshwright::gang
