#include "executor/worker/comm/host_kernels.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace meshwright::worker {
namespace {

// What a loop of `count` did.
struct Visits {
  std::mutex mutex;
  std::vector<int> counts;
  std::set<std::thread::id> threads;
  int64_t smallest = -1;
};

void Visit(void* state, int64_t begin, int64_t end) {
  Visits& visits = *static_cast<Visits*>(state);
  const std::lock_guard lock(visits.mutex);
  visits.threads.insert(std::this_thread::get_id());
  for (int64_t i = begin; i < end; ++i) ++visits.counts[static_cast<size_t>(i)];
  if (end != static_cast<int64_t>(visits.counts.size())) {
    visits.smallest = visits.smallest < 0 ? end - begin : std::min(visits.smallest, end - begin);
  }
}

class HostParallelTest : public testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(3); }
  void TearDown() override { at::set_num_threads(before_); }

  void Run(int64_t count, int64_t grain) {
    visits_.counts.assign(static_cast<size_t>(count), 0);
    ParallelFor(count, grain, Visit, &visits_);
    EXPECT_EQ(visits_.counts, std::vector<int>(static_cast<size_t>(count), 1));
  }

  const int before_ = at::get_num_threads();
  Visits visits_;
};

TEST_F(HostParallelTest, RunsOnAsManyThreadsAsTorchIsAllowed) {
  Run(1000, 1);
  EXPECT_EQ(visits_.threads.size(), 3);
  EXPECT_TRUE(visits_.threads.contains(std::this_thread::get_id()));
}

TEST_F(HostParallelTest, GivesNoThreadLessThanTheGrain) {
  Run(100, 40);
  EXPECT_EQ(visits_.threads.size(), 2);
  EXPECT_GE(visits_.smallest, 40);
}

TEST_F(HostParallelTest, RunsSmallLoopsOnTheCallingThread) {
  Run(7, 8);
  EXPECT_EQ(visits_.threads, std::set{std::this_thread::get_id()});
}

TEST_F(HostParallelTest, RunsALoopWithinALoopOnItsThread) {
  struct Inner {
    Visits visits;
    std::thread::id thread;
  };
  std::vector<Inner> inner(3);
  ParallelFor(
      3, 1,
      [](void* state, int64_t begin, int64_t) {
        Inner& own = (*static_cast<std::vector<Inner>*>(state))[static_cast<size_t>(begin)];
        own.thread = std::this_thread::get_id();
        own.visits.counts.assign(50, 0);
        ParallelFor(50, 1, Visit, &own.visits);
      },
      &inner);
  for (const Inner& own : inner) EXPECT_EQ(own.visits.threads, std::set{own.thread});
}

}  // namespace
}  // namespace meshwright::worker
