#include "tests/executor/worker/comm/communicator_conformance.h"

#include <ATen/ops/full.h>

#include <exception>
#include <latch>
#include <numeric>
#include <thread>
#include <utility>

#include "executor/worker/comm/gloo_communicator.h"

namespace meshwright::worker {

namespace {

// Elements of one rank's part of a tensor.
constexpr int64_t kPart = 7;

}  // namespace

Implementation Timed(std::string name, Connect connect) {
  return {.name = std::move(name),
          .connect = [connect = std::move(connect)](MeetingPlace& place, const GroupSpec& group,
                                                    int32_t rank) {
            MeetingPlace::Recording* recording = nullptr;
            {
              const std::lock_guard lock(place.mutex);
              recording = &place.recordings.emplace_back();
            }
            recording->recorder.BeginStep();
            return TimeCommunicator(connect(place, group, rank),
                                    {.name = group.name, .ranks = group.ranks},
                                    recording->recorder);
          }};
}

void CommunicatorTest::SetUpTestSuite() { DisableFlightRecorder(); }

void CommunicatorTest::OnEveryRank(const std::function<void(int32_t rank)>& body) {
  std::vector<std::thread> threads;
  std::exception_ptr failure;
  std::mutex mutex;
  threads.reserve(static_cast<size_t>(ranks()));
  for (int32_t rank = 0; rank < ranks(); ++rank) {
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
  worlds_.clear();
  if (failure) std::rethrow_exception(failure);
}

std::unique_ptr<Communicator> CommunicatorTest::Join(const char* group,
                                                     std::vector<int32_t> members, int32_t rank,
                                                     std::chrono::milliseconds timeout) {
  return GetParam().connect(place_,
                            {.name = group, .ranks = std::move(members), .timeout = timeout}, rank);
}

std::shared_ptr<Communicator> CommunicatorTest::JoinWorld(int32_t rank) {
  std::vector<int32_t> members;
  members.reserve(static_cast<size_t>(ranks()));
  for (int32_t member = 0; member < ranks(); ++member) members.push_back(member);
  std::shared_ptr<Communicator> world = Join("world", std::move(members), rank);
  const std::lock_guard lock(mutex_);
  worlds_.push_back(world);
  return world;
}

at::Tensor CommunicatorTest::Filled(int32_t rank, int64_t count, double value,
                                    at::ScalarType type) const {
  int32_t index = GetParam().one_device ? 0 : rank;
  if (GetParam().device == c10::DeviceType::CPU) index = -1;
  const at::Device device(GetParam().device, static_cast<c10::DeviceIndex>(index));
  return at::full({count}, value, at::TensorOptions().dtype(type).device(device));
}

bool AllAre(const at::Tensor& tensor, double value) {
  return tensor.to(at::kDouble).sub(value).abs().max().item<double>() == 0.0;
}

TEST_P(CommunicatorTest, KnowsItsRankAndSize) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    EXPECT_EQ(world->rank(), rank);
    EXPECT_EQ(world->size(), ranks());
  });
}

TEST_P(CommunicatorTest, AllReducesSumsAndMaximaOfAnySizeAndType) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (const int64_t count : {1, 7, 1000, 100'003}) {
      for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
        const at::Tensor sum = Filled(rank, count, rank + 1.0, type);
        world->AllReduce(sum, Reduction::kSum).Wait();
        EXPECT_TRUE(AllAre(sum, SumOfRanks())) << count << " of " << type;
        const at::Tensor max = Filled(rank, count, rank - 5.0, type);
        world->AllReduce(max, Reduction::kMax).Wait();
        EXPECT_TRUE(AllAre(max, last() - 5.0)) << count << " of " << type;
      }
    }
  });
}

TEST_P(CommunicatorTest, AllReducesAPartOfALargerTensor) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const at::Tensor whole = Filled(rank, 30, 1.0);
    world->AllReduce(whole.narrow(0, 10, 10), Reduction::kSum).Wait();
    EXPECT_TRUE(AllAre(whole.narrow(0, 0, 10), 1.0));
    EXPECT_TRUE(AllAre(whole.narrow(0, 10, 10), ranks()));
    EXPECT_TRUE(AllAre(whole.narrow(0, 20, 10), 1.0));
  });
}

TEST_P(CommunicatorTest, SeveralReductionsMayBeUnderWay) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    std::vector<at::Tensor> tensors;
    std::vector<Pending> pending;
    for (int i = 0; i < 8; ++i) {
      tensors.push_back(Filled(rank, 5000, i));
      pending.push_back(world->AllReduce(tensors.back(), Reduction::kSum));
    }
    for (Pending& work : pending) work.Wait();
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(AllAre(tensors[i], 1.0 * ranks() * i));
  });
}

TEST_P(CommunicatorTest, GathersInRankOrder) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const at::Tensor all = Filled(rank, ranks() * kPart, 0.0);
    world->AllGather(all, Filled(rank, kPart, rank)).Wait();
    for (int32_t i = 0; i < ranks(); ++i) EXPECT_TRUE(AllAre(all.narrow(0, i * kPart, kPart), i));
  });
}

TEST_P(CommunicatorTest, ReduceScatterGivesEachRankItsPart) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const at::Tensor all = Filled(rank, ranks() * kPart, 0.0);
    for (int32_t i = 0; i < ranks(); ++i) all.narrow(0, i * kPart, kPart).fill_(10.0 * i + rank);
    const at::Tensor part = Filled(rank, kPart, 0.0);
    world->ReduceScatter(part, all).Wait();
    EXPECT_TRUE(AllAre(part, 10.0 * ranks() * rank + SumOfRanks() - ranks()));
  });
}

TEST_P(CommunicatorTest, GathersInPlace) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
      const at::Tensor all = Filled(rank, ranks() * kPart, -1.0, type);
      const at::Tensor own = all.narrow(0, rank * kPart, kPart).fill_(rank + 1.0);
      world->AllGather(all, own).Wait();
      for (int32_t i = 0; i < ranks(); ++i) {
        EXPECT_TRUE(AllAre(all.narrow(0, i * kPart, kPart), i + 1.0)) << type;
      }
    }
  });
}

TEST_P(CommunicatorTest, ReduceScattersInPlace) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
      const at::Tensor all = Filled(rank, ranks() * kPart, 0.0, type);
      for (int32_t i = 0; i < ranks(); ++i) all.narrow(0, i * kPart, kPart).fill_(10.0 * i + rank);
      const at::Tensor own = all.narrow(0, rank * kPart, kPart);
      world->ReduceScatter(own, all).Wait();
      EXPECT_TRUE(AllAre(own, 10.0 * ranks() * rank + SumOfRanks() - ranks())) << type;
    }
  });
}

// Rank i sends rank j (i + 2 j) % 4 rows of i * 10 + j: parts of every size, empty ones among them.
TEST_P(CommunicatorTest, AllToAllMovesPartsOfEverySize) {
  constexpr int64_t kWidth = 5;
  const auto rows = [](int64_t from, int64_t to) { return (from + 2 * to) % 4; };
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (const at::ScalarType type :
         {at::kFloat, at::kDouble, at::kBFloat16, at::kLong, at::kInt}) {
      std::vector<int64_t> sent;
      std::vector<int64_t> received;
      for (int32_t peer = 0; peer < ranks(); ++peer) {
        sent.push_back(rows(rank, peer));
        received.push_back(rows(peer, rank));
      }
      const auto total = [](const std::vector<int64_t>& parts) {
        return std::accumulate(parts.begin(), parts.end(), int64_t{0});
      };
      const at::Tensor input = Filled(rank, total(sent) * kWidth, -1.0, type).view({-1, kWidth});
      const at::Tensor output =
          Filled(rank, total(received) * kWidth, -2.0, type).view({-1, kWidth});
      for (int64_t peer = 0, first = 0; peer < ranks(); first += sent[peer++]) {
        input.narrow(0, first, sent[peer]).fill_(static_cast<double>(rank * int64_t{10} + peer));
      }
      world->AllToAll(output, received, input, sent).Wait();
      for (int64_t peer = 0, first = 0; peer < ranks(); first += received[peer++]) {
        if (received[peer] == 0) continue;
        EXPECT_TRUE(
            AllAre(output.narrow(0, first, received[peer]), static_cast<double>(peer * 10 + rank)))
            << type;
      }
    }
  });
}

TEST_P(CommunicatorTest, AllToAllOfNothingEnds) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const std::vector<int64_t> none(static_cast<size_t>(ranks()), 0);
    const at::Tensor empty = Filled(rank, 0, 0.0).view({0, 3});
    world->AllToAll(empty, none, empty, none).Wait();
    const at::Tensor sum = Filled(rank, 3, 1.0);
    world->AllReduce(sum, Reduction::kSum).Wait();
    EXPECT_TRUE(AllAre(sum, ranks()));
  });
}

TEST_P(CommunicatorTest, BroadcastsFromAnyRoot) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    for (int32_t root = 0; root < ranks(); ++root) {
      const at::Tensor tensor = Filled(rank, 11, rank);
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
      sent.reserve(4);
      for (int i = 0; i < 4; ++i) sent.push_back(world->Send(Filled(rank, 1000 + i, i), last()));
      for (Pending& work : sent) work.Wait();
    } else if (rank == last()) {
      for (int i = 0; i < 4; ++i) {
        const at::Tensor tensor = Filled(rank, 1000 + i, 0.0);
        world->Receive(tensor, 0).Wait();
        EXPECT_TRUE(AllAre(tensor, i));
      }
    }
  });
}

TEST_P(CommunicatorTest, GroupsOfOneNameAreSeparate) {
  OnEveryRank([&](int32_t rank) {
    // The first and the last together, one between them alone.
    const bool alone = rank == 1 && ranks() > 2;
    const auto group =
        Join("half", alone ? std::vector<int32_t>{1} : std::vector<int32_t>{0, last()}, rank);
    EXPECT_EQ(group->rank(), rank == last() ? 1 : 0);
    const at::Tensor tensor = Filled(rank, 3, rank + 1);
    group->AllReduce(tensor, Reduction::kSum).Wait();
    EXPECT_TRUE(AllAre(tensor, alone ? 2.0 : ranks() + 1.0));
  });
}

// The first message connects; those behind it are issued whether the other rank is there or not.
TEST_P(CommunicatorTest, ASendReturnsBeforeItsReceive) {
  std::latch issued(1);
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const at::Tensor first = Filled(rank, 1, rank);
    if (rank == 0) {
      world->Send(first, 1).Wait();
      Pending sent = world->Send(Filled(rank, 1'000'000, 3.0), 1);
      issued.count_down();
      sent.Wait();
    } else if (rank == 1) {
      world->Receive(first, 0).Wait();
      issued.wait();
      const at::Tensor tensor = Filled(rank, 1'000'000, 0.0);
      world->Receive(tensor, 0).Wait();
      EXPECT_TRUE(AllAre(tensor, 3.0));
    }
  });
}

TEST_P(CommunicatorTest, AReceiveReturnsBeforeItsSend) {
  std::latch issued(1);
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const at::Tensor first = Filled(rank, 1, rank);
    if (rank == 1) {
      world->Receive(first, 0).Wait();
      const at::Tensor tensor = Filled(rank, 100, 0.0, at::kBFloat16);
      Pending received = world->Receive(tensor, 0);
      issued.count_down();
      received.Wait();
      EXPECT_TRUE(AllAre(tensor, 3.0));
    } else if (rank == 0) {
      world->Send(first, 1).Wait();
      issued.wait();
      world->Send(Filled(rank, 100, 3.0, at::kBFloat16), 1).Wait();
    }
  });
}

// In the same order on both sides, as operations that are carried out one after the other want it.
TEST_P(CommunicatorTest, MessagesBothWaysMayBeUnderWay) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    if (rank > 1) return;
    const at::Tensor there = Filled(rank, 1'000'000, rank + 1.0);
    const at::Tensor back = Filled(rank, 1'000'000, rank + 5.0);
    Pending first = rank == 0 ? world->Send(there, 1) : world->Receive(there, 0);
    Pending second = rank == 0 ? world->Receive(back, 1) : world->Send(back, 0);
    first.Wait();
    second.Wait();
    EXPECT_TRUE(AllAre(there, 1.0));
    EXPECT_TRUE(AllAre(back, 6.0));
  });
}

// Every rank sends before it could receive, and more than would fit into a socket's buffers.
TEST_P(CommunicatorTest, ExchangesAroundARing) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const int32_t next = (rank + 1) % ranks();
    const int32_t previous = (rank + last()) % ranks();
    at::Tensor here = Filled(rank, 1'000'000, rank);
    for (int32_t hops = 1; hops <= ranks(); ++hops) {
      const at::Tensor incoming = Filled(rank, 1'000'000, -1.0);
      PendingExchange exchange = world->Exchange(here, next, incoming, previous);
      exchange.received.Wait();
      exchange.sent.Wait();
      here = incoming;
      EXPECT_TRUE(AllAre(here, (rank + ranks() - hops % ranks()) % ranks())) << hops;
    }
  });
}

TEST_P(CommunicatorTest, TwoRanksExchangeWithEachOther) {
  OnEveryRank([&](int32_t rank) {
    if (rank > 1) return;
    const auto pair = Join("pair", {0, 1}, rank);
    std::vector<at::Tensor> incoming;
    std::vector<PendingExchange> exchanges;
    for (int i = 0; i < 3; ++i) {
      incoming.push_back(Filled(rank, 1'000'000, -1.0));
      exchanges.push_back(pair->Exchange(Filled(rank, 1'000'000, 10.0 * i + rank), 1 - rank,
                                         incoming.back(), 1 - rank));
    }
    for (int i = 0; i < 3; ++i) {
      exchanges[i].received.Wait();
      exchanges[i].sent.Wait();
      EXPECT_TRUE(AllAre(incoming[i], 10.0 * i + 1 - rank));
    }
    pair->Close();
  });
}

// What was waited for stands, whoever closes first.
TEST_P(CommunicatorTest, ClosesInOrderAfterItsLastOperation) {
  OnEveryRank([&](int32_t rank) {
    const auto world = JoinWorld(rank);
    const auto pair = rank < 2 ? Join("pair", {0, 1}, rank) : nullptr;
    const at::Tensor sum = Filled(rank, 1000, rank + 1.0);
    world->AllReduce(sum, Reduction::kSum).Wait();
    const at::Tensor incoming = Filled(rank, 1000, -1.0);
    if (pair != nullptr) {
      const at::Tensor outgoing = Filled(rank, 1000, rank);
      PendingExchange exchange = pair->Exchange(outgoing, 1 - rank, incoming, 1 - rank);
      exchange.received.Wait();
      exchange.sent.Wait();
      pair->Close();
    }
    world->Close();
    EXPECT_TRUE(AllAre(sum, SumOfRanks()));
    if (rank < 2) {
      EXPECT_TRUE(AllAre(incoming, 1 - rank));
    }
  });
}

}  // namespace meshwright::worker
