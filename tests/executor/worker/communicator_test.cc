// One suite for all communicators. Ranks are threads of this process, each with communicators of
// its own, as separate processes would have them.
#include "executor/worker/communicator.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "executor/worker/gloo_communicator.h"
#include "executor/worker/memory_account.h"
#include "executor/worker/thread_communicator.h"
#include "executor/worker/timed_communicator.h"

namespace meshwright {
namespace {

// Where the ranks of one test meet: a store for those that connect, a hub for threads.
struct MeetingPlace {
  c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
  ThreadHub hub;
  // Of ranks that are timed; they stay where they are.
  struct Recording {
    PhaseClock clock;
    StepRecorder recorder{clock};
  };
  std::mutex mutex;
  std::list<Recording> recordings;
};

using Connect =
    std::function<std::unique_ptr<Communicator>(MeetingPlace&, const GroupSpec&, int32_t rank)>;

struct Implementation {
  std::string name;
  Connect connect;
};

constexpr int32_t kRanks = 3;
constexpr auto kTimeout = std::chrono::milliseconds(20000);

class CommunicatorTest : public testing::TestWithParam<Implementation> {
 protected:
  static void SetUpTestSuite() { DisableFlightRecorder(); }

  // Runs `body` on every rank at once; the first exception is thrown here.
  void OnEveryRank(const std::function<void(int32_t rank)>& body) {
    std::vector<std::thread> threads;
    std::exception_ptr failure;
    std::mutex mutex;
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(rank);
        } catch (...) {
          const std::lock_guard lock(mutex);
          failure = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
  }

  std::unique_ptr<Communicator> Join(const char* group, std::vector<int32_t> ranks, int32_t rank,
                                     std::chrono::milliseconds timeout = kTimeout) {
    return GetParam().connect(place_,
                              {.name = group, .ranks = std::move(ranks), .timeout = timeout}, rank);
  }
  std::unique_ptr<Communicator> JoinWorld(int32_t rank) { return Join("world", {0, 1, 2}, rank); }

  MeetingPlace place_;
};

at::Tensor Filled(int64_t count, double value, at::ScalarType type = at::kFloat) {
  return at::full({count}, value, type);
}

bool AllAre(const at::Tensor& tensor, double value) {
  return tensor.to(at::kDouble).sub(value).abs().max().item<double>() == 0.0;
}

TEST_P(CommunicatorTest, KnowsItsRankAndSize) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    EXPECT_EQ(world->rank(), rank);
    EXPECT_EQ(world->size(), kRanks);
  });
}

TEST_P(CommunicatorTest, AllReducesSumsAndMaximaOfAnySizeAndType) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (const int64_t count : {1, 7, 1000, 100'003}) {
      for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
        const at::Tensor sum = Filled(count, rank + 1.0, type);
        world->AllReduce(sum, Reduction::kSum).Wait();
        EXPECT_TRUE(AllAre(sum, 6.0)) << count << " of " << type;
        const at::Tensor max = Filled(count, rank - 5.0, type);
        world->AllReduce(max, Reduction::kMax).Wait();
        EXPECT_TRUE(AllAre(max, -3.0)) << count << " of " << type;
      }
    }
  });
}

TEST_P(CommunicatorTest, AllReducesAPartOfALargerTensor) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const at::Tensor whole = Filled(30, 1.0);
    world->AllReduce(whole.narrow(0, 10, 10), Reduction::kSum).Wait();
    EXPECT_TRUE(AllAre(whole.narrow(0, 0, 10), 1.0));
    EXPECT_TRUE(AllAre(whole.narrow(0, 10, 10), 3.0));
    EXPECT_TRUE(AllAre(whole.narrow(0, 20, 10), 1.0));
  });
}

TEST_P(CommunicatorTest, SeveralReductionsMayBeUnderWay) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    std::vector<at::Tensor> tensors;
    std::vector<Pending> pending;
    for (int i = 0; i < 8; ++i) {
      tensors.push_back(Filled(5000, i));
      pending.push_back(world->AllReduce(tensors.back(), Reduction::kSum));
    }
    for (Pending& work : pending) work.Wait();
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(AllAre(tensors[i], 3.0 * i));
  });
}

TEST_P(CommunicatorTest, GathersInRankOrder) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const at::Tensor all = at::zeros({kRanks * 7}, at::kFloat);
    world->AllGather(all, Filled(7, rank)).Wait();
    for (int32_t i = 0; i < kRanks; ++i) EXPECT_TRUE(AllAre(all.narrow(0, i * 7, 7), i));
  });
}

TEST_P(CommunicatorTest, ReduceScatterGivesEachRankItsPart) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const at::Tensor all = at::zeros({kRanks * 7}, at::kFloat);
    for (int32_t i = 0; i < kRanks; ++i) all.narrow(0, i * 7, 7).fill_(10.0 * i + rank);
    const at::Tensor part = at::zeros({7}, at::kFloat);
    world->ReduceScatter(part, all).Wait();
    EXPECT_TRUE(AllAre(part, 30.0 * rank + 3.0));
  });
}

TEST_P(CommunicatorTest, GathersInPlace) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
      const at::Tensor all = Filled(kRanks * 7, -1.0, type);
      const at::Tensor own = all.narrow(0, rank * 7, 7).fill_(rank + 1.0);
      world->AllGather(all, own).Wait();
      for (int32_t i = 0; i < kRanks; ++i) {
        EXPECT_TRUE(AllAre(all.narrow(0, i * 7, 7), i + 1.0)) << type;
      }
    }
  });
}

TEST_P(CommunicatorTest, ReduceScattersInPlace) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
      const at::Tensor all = at::zeros({kRanks * 7}, type);
      for (int32_t i = 0; i < kRanks; ++i) all.narrow(0, i * 7, 7).fill_(10.0 * i + rank);
      const at::Tensor own = all.narrow(0, rank * 7, 7);
      world->ReduceScatter(own, all).Wait();
      EXPECT_TRUE(AllAre(own, 30.0 * rank + 3.0)) << type;
    }
  });
}

TEST_P(CommunicatorTest, ItsScratchIsNotTheRanksMemory) {
  InstallAccountingAllocator();
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    MemoryAccount account;
    {
      const ScopedMemoryAccount counted(&account);
      const at::Tensor all = at::zeros({kRanks * 1000}, at::kFloat);
      const at::Tensor own = all.narrow(0, rank * 1000, 1000);
      world->AllReduce(all, Reduction::kSum).Wait();
      world->ReduceScatter(own, all).Wait();
      world->AllGather(all, own).Wait();
    }
    EXPECT_EQ(account.peak_bytes(), kRanks * 1000 * 4);
    // A thread of the implementation may let go of a tensor a moment after Wait().
    while (account.held_bytes() > 0) std::this_thread::yield();
  });
}

TEST_P(CommunicatorTest, BroadcastsFromAnyRoot) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (int32_t root = 0; root < kRanks; ++root) {
      const at::Tensor tensor = Filled(11, rank);
      world->Broadcast(tensor, root).Wait();
      EXPECT_TRUE(AllAre(tensor, root));
    }
  });
}

TEST_P(CommunicatorTest, SendsArriveInOrder) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    if (rank == 0) {
      std::vector<Pending> sent;
      for (int i = 0; i < 4; ++i) sent.push_back(world->Send(Filled(1000 + i, i), 2));
      for (Pending& work : sent) work.Wait();
    } else if (rank == 2) {
      for (int i = 0; i < 4; ++i) {
        const at::Tensor tensor = at::zeros({1000 + i}, at::kFloat);
        world->Receive(tensor, 0).Wait();
        EXPECT_TRUE(AllAre(tensor, i));
      }
    }
  });
}

TEST_P(CommunicatorTest, ASendDoesNotBlockTheSender) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    if (rank == 2) return;
    // Both send before they receive.
    Pending sent = world->Send(Filled(1'000'000, rank), 1 - rank);
    const at::Tensor tensor = at::zeros({1'000'000}, at::kFloat);
    world->Receive(tensor, 1 - rank).Wait();
    sent.Wait();
    EXPECT_TRUE(AllAre(tensor, 1 - rank));
  });
}

TEST_P(CommunicatorTest, GroupsOfOneNameAreSeparate) {
  OnEveryRank([&](int32_t rank) {
    const std::vector<int32_t> ranks = rank == 1 ? std::vector<int32_t>{1} : std::vector{0, 2};
    const auto group = Join("half", ranks, rank);
    EXPECT_EQ(group->rank(), rank == 2 ? 1 : 0);
    const at::Tensor tensor = Filled(3, rank + 1);
    group->AllReduce(tensor, Reduction::kSum).Wait();
    EXPECT_TRUE(AllAre(tensor, rank == 1 ? 2.0 : 4.0));
  });
}

TEST_P(CommunicatorTest, ALostPeerIsAnError) {
  OnEveryRank([&](int32_t rank) {
    auto group = Join("lost", {0, 1, 2}, rank, std::chrono::milliseconds(1000));
    if (rank == 0) return;
    EXPECT_THROW(
        {
          for (int i = 0; i < 3; ++i) group->AllReduce(Filled(10, 1.0), Reduction::kSum).Wait();
        },
        CommunicationError);
  });
}

TEST_P(CommunicatorTest, ASilentPeerEndsTheWaitAfterTheTimeout) {
  OnEveryRank([&](int32_t rank) {
    const auto group = Join("silent", {0, 1, 2}, rank, std::chrono::milliseconds(300));
    if (rank == 0) {
      // There, but without a word until the others gave up.
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      return;
    }
    EXPECT_THROW(group->AllReduce(Filled(10, 1.0), Reduction::kSum).Wait(), CommunicationError);
  });
}

TEST_P(CommunicatorTest, ReceivesBeforeTheSend) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    if (rank == 1) {
      const at::Tensor tensor = at::zeros({100}, at::kBFloat16);
      Pending received = world->Receive(tensor, 0);
      world->Send(Filled(1, 1.0), 0).Wait();
      received.Wait();
      EXPECT_TRUE(AllAre(tensor, 3.0));
    } else if (rank == 0) {
      const at::Tensor go = at::zeros({1}, at::kFloat);
      world->Receive(go, 1).Wait();
      world->Send(Filled(100, 3.0, at::kBFloat16), 1).Wait();
    }
  });
}

// Another one, timed in the middle of a step.
Implementation Timed(std::string name, Connect connect) {
  return {
      std::move(name),
      [connect = std::move(connect)](MeetingPlace& place, const GroupSpec& group, int32_t rank) {
        MeetingPlace::Recording* recording = nullptr;
        {
          const std::lock_guard lock(place.mutex);
          recording = &place.recordings.emplace_back();
        }
        recording->recorder.BeginStep();
        return TimeCommunicator(connect(place, group, rank),
                                {.name = group.name, .ranks = group.ranks}, recording->recorder);
      }};
}

std::unique_ptr<Communicator> JoinGloo(MeetingPlace& place, const GroupSpec& group, int32_t rank) {
  return ConnectGloo(place.store, group, rank);
}

std::unique_ptr<Communicator> JoinThreads(MeetingPlace& place, const GroupSpec& group,
                                          int32_t rank) {
  return place.hub.Join(group, rank);
}

INSTANTIATE_TEST_SUITE_P(Implementations, CommunicatorTest,
                         testing::Values(Implementation{"gloo", JoinGloo},
                                         Implementation{"thread", JoinThreads},
                                         Timed("timed_gloo", JoinGloo),
                                         Timed("timed_thread", JoinThreads)),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace meshwright
