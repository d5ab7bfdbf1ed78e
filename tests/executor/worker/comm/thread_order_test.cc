// The thread communicator on a device that works behind the host, as late or as early as it may:
// every handover that is not ordered leaves wrong numbers.
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "executor/worker/comm/stream_order.h"
#include "executor/worker/comm/thread_communicator.h"

namespace meshwright::worker {
namespace {

constexpr int32_t kRanks = 3;
constexpr double kEndS = 42.0;

// Tasks in their order. What is done of them is up to whoever asks.
struct Stream {
  std::vector<std::function<void()>> tasks;
  size_t done = 0;
};

class StreamMoment final : public StreamMark {
 public:
  StreamMoment(Stream& stream, size_t position) : stream_(stream), position_(position) {}

  void Reach() const {
    while (stream_.done < position_) stream_.tasks[stream_.done++]();
  }

 private:
  Stream& stream_;
  const size_t position_;
};

// Whether an operation is done when a rank comes after it, or when it is issued.
enum class Pace { kLate, kEarly };

// All streams of a run; its tasks are done by whichever thread needs them.
struct Machine {
  Pace pace = Pace::kLate;
  std::recursive_mutex mutex;
  std::set<const void*> touched;  // by the operations, as they said
};

class QueuedOrder final : public StreamOrder {
 public:
  explicit QueuedOrder(Machine& machine) : machine_(machine) {}

  Mark Now() override {
    const std::lock_guard lock(machine_.mutex);
    return EndOf(own_);
  }
  void ComeAfter(const StreamMark& mark) override {
    Issue([moment = static_cast<const StreamMoment&>(mark)] { moment.Reach(); });
  }
  Mark Run(const std::vector<Mark>& marks, const std::vector<at::Tensor>& tensors,
           const std::function<void()>& operation) override {
    const std::lock_guard lock(machine_.mutex);
    for (const at::Tensor& tensor : tensors) machine_.touched.insert(tensor.data_ptr());
    for (const Mark& mark : marks) {
      operations_.tasks.emplace_back([mark] { static_cast<const StreamMoment&>(*mark).Reach(); });
    }
    operations_.tasks.push_back(operation);
    Mark end = EndOf(operations_);
    if (machine_.pace == Pace::kEarly) static_cast<const StreamMoment&>(*end).Reach();
    return end;
  }
  std::optional<double> Seconds(const StreamMark&) const override { return kEndS; }

  // The rank computes.
  void Issue(std::function<void()> task) {
    const std::lock_guard lock(machine_.mutex);
    own_.tasks.push_back(std::move(task));
  }
  void Synchronize() {
    const std::lock_guard lock(machine_.mutex);
    StreamMoment(own_, own_.tasks.size()).Reach();
  }

 private:
  static Mark EndOf(Stream& stream) {
    return std::make_shared<StreamMoment>(stream, stream.tasks.size());
  }

  Machine& machine_;
  Stream own_;
  Stream operations_;
};

class Rank {
 public:
  Rank(Machine& machine, ThreadHub& hub, int32_t rank)
      : order_(std::make_shared<QueuedOrder>(machine)),
        rank_(rank),
        world_(hub.Join({.name = "world", .ranks = {0, 1, 2}, .timeout = std::chrono::seconds(20)},
                        rank, order_)) {}

  int32_t rank() const { return rank_; }
  Communicator& world() { return *world_; }
  QueuedOrder& order() { return *order_; }

  // Holds no value until the rank's stream gets there.
  at::Tensor Filled(int64_t count, double value) {
    at::Tensor tensor = at::full({count}, -7.0);
    Write(tensor, value);
    return tensor;
  }
  void Write(const at::Tensor& tensor, double value) {
    order_->Issue([tensor, value] { tensor.fill_(value); });
  }
  void Expect(const at::Tensor& tensor, double value) {
    order_->Issue([tensor, value, rank = rank_] {
      EXPECT_EQ(tensor.sub(value).abs().max().item<double>(), 0.0)
          << "rank " << rank << " found " << tensor[0].item<double>() << ", not " << value;
    });
  }

 private:
  std::shared_ptr<QueuedOrder> order_;
  const int32_t rank_;
  std::unique_ptr<Communicator> world_;
};

struct Case {
  std::string name;
  std::function<void(Rank&)> run;
  Pace pace = Pace::kLate;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

class ThreadOrderTest : public testing::TestWithParam<Case> {};

// Waits, looks at the result, and overwrites what it brought.
void Use(Rank& rank, Pending work, const at::Tensor& result, double expected,
         const at::Tensor& brought) {
  work.Wait();
  rank.Expect(result, expected);
  rank.Write(brought, 1000.0);
  if (!brought.is_same(result)) rank.Expect(result, expected);
}

void ReduceAll(Rank& rank) {
  const at::Tensor tensor = rank.Filled(5, rank.rank() + 1.0);
  Use(rank, rank.world().AllReduce(tensor, Reduction::kSum), tensor, 6.0, tensor);
}

void GatherAll(Rank& rank) {
  const at::Tensor all = rank.Filled(kRanks, -1.0);
  const at::Tensor own = rank.Filled(1, 2.0);
  Use(rank, rank.world().AllGather(all, own), all, 2.0, own);
}

void ReduceParts(Rank& rank) {
  const at::Tensor all = rank.Filled(int64_t{kRanks} * 2, rank.rank() + 1.0);
  const at::Tensor part = rank.Filled(2, -1.0);
  Use(rank, rank.world().ReduceScatter(part, all), part, 6.0, all);
}

void BroadcastOne(Rank& rank) {
  const at::Tensor tensor = rank.Filled(4, rank.rank() + 1.0);
  Use(rank, rank.world().Broadcast(tensor, 1), tensor, 2.0, tensor);
}

void ExchangeAround(Rank& rank) {
  const int32_t next = (rank.rank() + 1) % kRanks;
  const int32_t previous = (rank.rank() + kRanks - 1) % kRanks;
  const at::Tensor outgoing = rank.Filled(4, rank.rank());
  const at::Tensor incoming = rank.Filled(4, -1.0);
  PendingExchange exchange = rank.world().Exchange(outgoing, next, incoming, previous);
  exchange.sent.Wait();
  rank.Write(outgoing, 1000.0);
  Use(rank, std::move(exchange.received), incoming, previous, incoming);
}

// From each rank to the next of them, whichever comes first.
void PassAlong(Rank& rank) {
  const at::Tensor tensor = rank.Filled(4, rank.rank() == 0 ? 5.0 : -1.0);
  if (rank.rank() > 0) {
    rank.world().Receive(tensor, rank.rank() - 1).Wait();
    rank.Expect(tensor, 5.0);
  }
  if (rank.rank() + 1 == kRanks) return;
  rank.world().Send(tensor, rank.rank() + 1).Wait();
  rank.Write(tensor, 1000.0);
}

// The next operation's tensors are the last one's results.
void Chain(Rank& rank) {
  const at::Tensor tensor = rank.Filled(3, 1.0);
  for (int i = 0; i < 4; ++i) rank.world().AllReduce(tensor, Reduction::kSum).Wait();
  rank.Expect(tensor, 81.0);
}

TEST_P(ThreadOrderTest, EveryHandoverIsOrdered) {
  Machine machine;
  machine.pace = GetParam().pace;
  ThreadHub hub;
  std::vector<std::unique_ptr<Rank>> ranks;
  ranks.reserve(kRanks);
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(std::make_unique<Rank>(machine, hub, rank));
  }
  {
    std::vector<std::jthread> threads;
    threads.reserve(ranks.size());
    for (const auto& rank : ranks) threads.emplace_back([&] { GetParam().run(*rank); });
  }
  for (const auto& rank : ranks) rank->order().Synchronize();
}

std::vector<Case> Cases() {
  const std::vector<Case> operations = {{"AllReduce", ReduceAll},
                                        {"AllGather", GatherAll},
                                        {"ReduceScatter", ReduceParts},
                                        {"Broadcast", BroadcastOne},
                                        {"Exchange", ExchangeAround},
                                        {"SendAndReceive", PassAlong},
                                        {"Chain", Chain}};
  std::vector<Case> cases;
  for (const Case& operation : operations) {
    cases.push_back({operation.name + "Late", operation.run, Pace::kLate});
    cases.push_back({operation.name + "Early", operation.run, Pace::kEarly});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Operations, ThreadOrderTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

// Two ranks whose calls the test makes itself, the second after the first.
class TwoRanksTest : public testing::Test {
 protected:
  std::unique_ptr<Communicator> Join(int32_t rank, std::shared_ptr<StreamOrder> order) {
    return hub_.Join({.name = "pair", .ranks = {0, 1}, .timeout = std::chrono::seconds(20)}, rank,
                     std::move(order));
  }

  Machine machine_;
  ThreadHub hub_;
};

// Their memory must outlast the operation, even where a rank lets go of them without a wait.
TEST_F(TwoRanksTest, AnOperationSaysWhichTensorsItTouches) {
  const auto first = Join(0, std::make_shared<QueuedOrder>(machine_));
  const auto second = Join(1, std::make_shared<QueuedOrder>(machine_));
  const std::vector<at::Tensor> gathered = {at::full({4}, 0.0), at::full({4}, 0.0)};
  const std::vector<at::Tensor> own = {at::full({2}, 1.0), at::full({2}, 2.0)};
  first->AllGather(gathered[0], own[0]);
  second->AllGather(gathered[1], own[1]);
  first->Send(own[0], 1);
  second->Receive(own[1], 0);
  const std::set<const void*> expected = {gathered[0].data_ptr(), gathered[1].data_ptr(),
                                          own[0].data_ptr(), own[1].data_ptr()};
  EXPECT_EQ(machine_.touched, expected);
}

TEST_F(TwoRanksTest, AnOperationEndsWhenItsOrderSays) {
  const auto first = Join(0, std::make_shared<QueuedOrder>(machine_));
  const auto second = Join(1, std::make_shared<QueuedOrder>(machine_));
  const at::Tensor tensor = at::full({2}, 1.0);
  Pending sent = first->Send(tensor, 1);
  const auto done = sent.WatchDone();
  EXPECT_EQ(done->seconds(), std::nullopt);
  second->Receive(at::full({2}, 0.0), 0);
  EXPECT_EQ(done->seconds(), kEndS);
}

class BrokenOrder final : public StreamOrder {
 public:
  Mark Now() override { return nullptr; }
  void ComeAfter(const StreamMark&) override {}
  Mark Run(const std::vector<Mark>&, const std::vector<at::Tensor>&,
           const std::function<void()>&) override {
    throw std::bad_alloc();
  }
  std::optional<double> Seconds(const StreamMark&) const override { return std::nullopt; }
};

TEST_F(TwoRanksTest, ARankThatCannotIssueAnOperationFailsTheOthers) {
  const auto first = Join(0, HostOrder());
  const auto second = Join(1, std::make_shared<BrokenOrder>());
  Pending waits = first->AllReduce(at::full({2}, 1.0), Reduction::kSum);
  EXPECT_THROW(second->AllReduce(at::full({2}, 1.0), Reduction::kSum), std::bad_alloc);
  EXPECT_THROW(waits.Wait(), CommunicationError);
}

}  // namespace
}  // namespace meshwright::worker
