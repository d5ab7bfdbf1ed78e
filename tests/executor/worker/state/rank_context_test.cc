// How the ranks of a run come by their groups, and how they end them.
#include "executor/worker/state/rank_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/fake_communicator.h"
#include "tests/executor/layout_cases.h"
#include "tests/executor/worker/comm/forwarding_communicator.h"

namespace meshwright::worker {
namespace {

using testing::Each;
using testing::SizeIs;

// Says in which order groups are closed.
class ClosingCommunicator final : public ForwardingCommunicator {
 public:
  ClosingCommunicator(std::unique_ptr<Communicator> communicator, std::function<void()> closed)
      : ForwardingCommunicator(std::move(communicator)), closed_(std::move(closed)) {}

  void Close() override {
    closed_();
    ForwardingCommunicator::Close();
  }

 private:
  const std::function<void()> closed_;
};

class RankGroupsTest : public testing::Test {
 protected:
  void Prepare(RankContext& context, int32_t rank) const {
    context.model = plan_.model;
    context.layout = plan_.layout;
    context.training = plan_.training;
    context.rank = rank;
    context.coordinates = CoordinatesOf(plan_.layout, rank);
    context.device = std::make_unique<CpuDevice>();
  }

  // Every rank on a thread of its own, connected over threads.
  void OnEveryRank(std::chrono::milliseconds timeout,
                   const std::function<void(RankContext& context)>& body) {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<size_t>(plan_.layout.devices()));
    for (int32_t rank = 0; rank < plan_.layout.devices(); ++rank) {
      threads.emplace_back([&, rank] {
        RankContext context;
        Prepare(context, rank);
        ConnectGroupsWith(
            context,
            [&](const GroupSpec& group) {
              return std::make_unique<ClosingCommunicator>(hub_.Join(group, rank, HostOrder()),
                                                           [this, rank, name = group.name] {
                                                             const std::lock_guard lock(mutex_);
                                                             closed_[rank].push_back(name);
                                                           });
            },
            timeout);
        body(context);
      });
    }
  }

  const trial::TrialPlan plan_ =
      trial::PlanOf({"tp2.cp2.pp2.dp1.vpp2.sched=interleaved", {.tied = true}}, /*steps=*/1);
  ThreadHub hub_;
  std::mutex mutex_;
  std::map<int32_t, std::vector<std::string>> closed_;  // by rank
};

TEST_F(RankGroupsTest, ChannelsAndTheRingCarryMessagesAlone) {
  RankContext context;
  Prepare(context, 0);
  std::map<std::string, Traffic> traffic;
  ConnectGroupsWith(
      context,
      [&](const GroupSpec& group) {
        traffic[group.name] = group.traffic;
        return MakeFakeCommunicator(group, 0);
      },
      std::chrono::seconds(1));
  const std::map<std::string, Traffic> expected = {{"world", Traffic::kCollectives},
                                                   {"tp", Traffic::kCollectives},
                                                   {"cp", Traffic::kMessages},
                                                   {"replicas", Traffic::kCollectives},
                                                   {"activations_up", Traffic::kMessages},
                                                   {"gradients_down", Traffic::kMessages},
                                                   {"activations_down", Traffic::kMessages},
                                                   {"gradients_up", Traffic::kMessages},
                                                   {"tied_embeddings", Traffic::kCollectives}};
  EXPECT_EQ(traffic, expected);
}

TEST_F(RankGroupsTest, NoRankEndsAGroupBeforeAllRanksCame) {
  std::atomic<int32_t> came = 0;
  std::vector<int32_t> there(static_cast<size_t>(plan_.layout.devices()), 0);
  OnEveryRank(std::chrono::seconds(20), [&](RankContext& context) {
    // The last rank is late.
    if (context.rank + 1 == plan_.layout.devices()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ++came;
    CloseGroups(context);
    there[static_cast<size_t>(context.rank)] = came;
  });
  EXPECT_THAT(there, Each(plan_.layout.devices()));
}

// One may wait in Close() for the others of the group.
TEST_F(RankGroupsTest, AllRanksEndTheirGroupsInTheOrderThatTheWorldIsLastOf) {
  OnEveryRank(std::chrono::seconds(20), [](RankContext& context) { CloseGroups(context); });
  ASSERT_THAT(closed_, SizeIs(plan_.layout.devices()));
  for (const auto& [rank, groups] : closed_) {
    EXPECT_THAT(groups, SizeIs(9)) << "rank " << rank;
    EXPECT_EQ(groups, closed_.begin()->second) << "rank " << rank;
    EXPECT_EQ(groups.back(), "world") << "rank " << rank;
  }
}

TEST_F(RankGroupsTest, ARankThatIsGoneIsAnErrorOfTheOthers) {
  std::atomic<int32_t> failed = 0;
  OnEveryRank(std::chrono::seconds(20), [&](RankContext& context) {
    if (context.rank == 0) return;
    try {
      CloseGroups(context);
    } catch (const CommunicationError&) {
      ++failed;
    }
  });
  EXPECT_EQ(failed, plan_.layout.devices() - 1);
}

TEST_F(RankGroupsTest, ARankThatStaysAwayIsWaitedForNoLongerThanTheTimeout) {
  std::atomic<int32_t> failed = 0;
  OnEveryRank(std::chrono::milliseconds(200), [&](RankContext& context) {
    if (context.rank == 0) {
      while (failed + 1 < plan_.layout.devices()) std::this_thread::yield();
      return;
    }
    try {
      CloseGroups(context);
    } catch (const CommunicationError&) {
      ++failed;
    }
  });
  EXPECT_EQ(failed, plan_.layout.devices() - 1);
}

}  // namespace
}  // namespace meshwright::worker
