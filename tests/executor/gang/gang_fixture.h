// RunGang() runs a gang whose members are threads of a test, each with its own worker processes.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "executor/gang/gang_runner.h"
#include "tests/executor/gang/memberships.h"
#include "tests/executor/trial/trial_fixture.h"

namespace meshwright::gang {

// Restricts the calling thread, and the workers that it starts, to at most one processor per rank,
// so that each rank always computes with one thread.
inline void UseOneCorePerRank(int32_t ranks) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  cpu_set_t some;
  CPU_ZERO(&some);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < ranks; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &some);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof(some), &some), 0);
}

// FollowerThread is a follower on its own thread, which runs until it is told to end.
class FollowerThread {
 public:
  FollowerThread(const trial::TrialPlan& plan, const Membership& membership,
                 trial::TrialRunnerOptions options, const Timing& timing = ShortTiming())
      : thread_([this, plan, membership, options, timing]() mutable {
          UseOneCorePerRank(membership.own().ranks);
          options.cancel = &cancel_;
          result_ = RunMember(plan, membership, options, timing);
          returned_ = true;
        }) {}
  ~FollowerThread() { End(); }

  bool returned() const { return returned_; }
  // Tells the follower to end, and waits for its result.
  const trial::TrialResult& End() {
    cancel_ = true;
    return Wait();
  }
  const trial::TrialResult& Wait() {
    if (thread_.joinable()) thread_.join();
    return result_;
  }

 private:
  std::atomic<bool> cancel_ = false;
  std::atomic<bool> returned_ = false;
  trial::TrialResult result_;
  std::thread thread_;
};

// Runs the leader on a thread of its own, and returns its result.
inline trial::TrialResult LeadOnThread(const trial::TrialPlan& plan, const Membership& membership,
                                       const trial::TrialRunnerOptions& options,
                                       const Timing& timing = ShortTiming()) {
  trial::TrialResult result;
  std::thread([&] {
    UseOneCorePerRank(membership.own().ranks);
    result = RunMember(plan, membership, options, timing);
  }).join();
  return result;
}

// Runs the plan in a gang whose members have the given numbers of ranks. All workers run the
// program at `worker_path`.
inline trial::TrialResult RunGang(const trial::TrialPlan& plan, const std::vector<int32_t>& ranks,
                                  const std::string& worker_path) {
  const std::vector<Membership> memberships = MembershipsOf(ranks);
  std::vector<std::unique_ptr<FollowerThread>> followers;
  for (size_t i = 1; i < memberships.size(); ++i) {
    followers.push_back(std::make_unique<FollowerThread>(
        plan, memberships[i],
        trial::TrialRunnerOptions{.worker_path = worker_path, .progress = {}}));
  }
  trial::TrialResult result =
      LeadOnThread(plan, memberships[0], {.worker_path = worker_path, .progress = {}});
  for (const auto& follower : followers) {
    EXPECT_EQ(follower->End().outcome, trial::TrialOutcome::kCancelled) << follower->Wait().message;
  }
  return result;
}

}  // namespace meshwright::gang
