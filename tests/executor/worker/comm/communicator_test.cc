// The communicators of CPUs.
#include <thread>

#include "executor/worker/comm/gloo_communicator.h"
#include "executor/worker/comm/memory_account.h"
#include "tests/executor/worker/comm/communicator_conformance.h"

namespace meshwright::worker {
namespace {

TEST_P(CpuCommunicatorTest, ItsScratchIsNotTheRanksMemory) {
  InstallAccountingAllocator();
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    MemoryAccount account;
    {
      const ScopedMemoryAccount counted(&account);
      const at::Tensor all = Filled(rank, ranks() * int64_t{1000}, 0.0);
      const at::Tensor own = all.narrow(0, rank * int64_t{1000}, 1000);
      world->AllReduce(all, Reduction::kSum).Wait();
      world->ReduceScatter(own, all).Wait();
      world->AllGather(all, own).Wait();
    }
    EXPECT_EQ(account.peak_bytes(), ranks() * 1000 * 4);
    // A thread of the implementation may let go of a tensor a moment after Wait().
    while (account.held_bytes() > 0) std::this_thread::yield();
  });
}

TEST_P(CpuCommunicatorTest, ALostPeerIsAnError) {
  OnEveryRank([&](int32_t rank) {
    auto group = Join("lost", {0, 1, 2}, rank, std::chrono::milliseconds(1000));
    // Nobody leaves while another one is still joining.
    group->AllReduce(Filled(rank, 10, 1.0), Reduction::kSum).Wait();
    if (rank == 0) return;
    EXPECT_THROW(
        {
          for (int i = 0; i < 3; ++i)
            group->AllReduce(Filled(rank, 10, 1.0), Reduction::kSum).Wait();
        },
        CommunicationError);
  });
}

TEST_P(CpuCommunicatorTest, ASilentPeerEndsTheWaitAfterTheTimeout) {
  OnEveryRank([&](int32_t rank) {
    const auto group = Join("silent", {0, 1, 2}, rank, std::chrono::milliseconds(300));
    if (rank == 0) {
      // There, but without a word until the others gave up.
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      return;
    }
    EXPECT_THROW(group->AllReduce(Filled(rank, 10, 1.0), Reduction::kSum).Wait(),
                 CommunicationError);
  });
}

std::unique_ptr<Communicator> JoinGloo(MeetingPlace& place, const GroupSpec& group, int32_t rank) {
  return ConnectGloo(place.store, group, rank, "127.0.0.1");
}

std::unique_ptr<Communicator> JoinThreads(MeetingPlace& place, const GroupSpec& group,
                                          int32_t rank) {
  return place.hub.Join(group, rank, HostOrder());
}

const auto kImplementations =
    testing::Values(Implementation{"gloo", JoinGloo}, Implementation{"thread", JoinThreads},
                    Timed("timed_gloo", JoinGloo), Timed("timed_thread", JoinThreads));

std::string NameOf(const testing::TestParamInfo<Implementation>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(Implementations, CommunicatorTest, kImplementations, NameOf);
INSTANTIATE_TEST_SUITE_P(Implementations, CpuCommunicatorTest, kImplementations, NameOf);

}  // namespace
}  // namespace meshwright::worker
