// What real pipelines do in which order, and how long that takes on devices where both sides of a
// message wait for each other and a rank's messages of a group go one after the other, as with
// NCCL. Ranks compute the tiny model; what they did is then gone through in virtual time, so that
// the machine's own pace does not matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/worker/comm/device_clock.h"
#include "planner/schedule/placement.h"
#include "planner/schedule/simulator.h"
#include "tests/executor/layout_cases.h"
#include "tests/executor/worker/comm/forwarding_communicator.h"
#include "tests/executor/worker/thread_run.h"

namespace meshwright::worker {
namespace {

// Group, sender, receiver, and which of their messages.
using Message = std::tuple<std::string, int32_t, int32_t, int32_t>;

// A rank issues its side of a message, waits for it, or computes an action.
struct Event {
  enum class Stage { kIssue, kWait, kCompute };
  double at_s = 0.0;
  Stage kind = Stage::kIssue;
  Message message = {};
  planner::Action action = {};
};
using EventLog = std::vector<Event>;

class LoggedWork final : public PendingWork {
 public:
  LoggedWork(Pending work, Message message, EventLog& log)
      : work_(std::move(work)), message_(std::move(message)), log_(log) {}

  void Wait() override {
    log_.push_back({MonotonicSeconds(), Event::Stage::kWait, message_});
    work_.Wait();
  }

 private:
  Pending work_;
  const Message message_;
  EventLog& log_;
};

// Takes down messages.
class LoggedCommunicator final : public ForwardingCommunicator {
 public:
  LoggedCommunicator(std::unique_ptr<Communicator> communicator, GroupSpec group, EventLog& log)
      : ForwardingCommunicator(std::move(communicator)), group_(std::move(group)), log_(log) {}

  Pending Send(const at::Tensor& tensor, int32_t to) override {
    const Message message = Next(rank(), to);
    return Log(message, ForwardingCommunicator::Send(tensor, to));
  }
  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    const Message message = Next(from, rank());
    return Log(message, ForwardingCommunicator::Receive(tensor, from));
  }

 private:
  Message Next(int32_t from, int32_t to) {
    const int32_t sender = group_.ranks[static_cast<size_t>(from)];
    const int32_t receiver = group_.ranks[static_cast<size_t>(to)];
    Message message = {group_.name + "/" + std::to_string(group_.ranks.front()), sender, receiver,
                       count_[{sender, receiver}]++};
    log_.push_back({MonotonicSeconds(), Event::Stage::kIssue, message});
    return message;
  }
  Pending Log(const Message& message, Pending work) {
    return Pending(std::make_unique<LoggedWork>(std::move(work), message, log_));
  }

  const GroupSpec group_;
  EventLog& log_;
  std::map<std::pair<int32_t, int32_t>, int32_t> count_;
};

// One step, in virtual time.
class VirtualStep {
 public:
  // Logs are in their order. `times` as the simulator has them.
  VirtualStep(const planner::Layout& layout, const std::vector<EventLog>& logs,
              const planner::PipelineTimes& times)
      : layout_(layout), logs_(logs), times_(times), position_(logs.size()), now_s_(logs.size()) {}

  // When the last action ends; nothing where ranks wait for each other without end.
  std::optional<double> Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < logs_.size(); ++rank) {
        while (position_[rank] < logs_[rank].size() && Do(rank, logs_[rank][position_[rank]])) {
          ++position_[rank];
          moved = true;
        }
      }
    }
    for (size_t rank = 0; rank < logs_.size(); ++rank) {
      if (position_[rank] < logs_[rank].size()) return std::nullopt;
    }
    return last_s_;
  }

 private:
  struct Side {
    double issued_s = 0.0;
    std::optional<Message> before;  // what the rank's group is busy with until it is done
  };

  bool Do(size_t rank, const Event& event) {
    switch (event.kind) {
      case Event::Stage::kIssue: {
        std::optional<Message>& newest = newest_[{rank, std::get<0>(event.message)}];
        sides_[event.message].push_back({now_s_[rank], newest});
        newest = event.message;
        return true;
      }
      case Event::Stage::kWait: {
        const std::optional<double> done_s = Done(event.message);
        if (done_s.has_value()) now_s_[rank] = std::max(now_s_[rank], *done_s);
        return done_s.has_value();
      }
      case Event::Stage::kCompute:
        now_s_[rank] += DurationOf(rank, event.action);
        last_s_ = std::max(last_s_, now_s_[rank]);
        return true;
    }
    return false;
  }

  double DurationOf(size_t rank, const planner::Action& action) const {
    const int32_t stage = planner::StageOfChunk(layout_, static_cast<int32_t>(rank), action.chunk);
    return times_.stages[static_cast<size_t>(stage)].Of(action.kind);
  }

  // When both sides have issued the message and their groups have come to it.
  std::optional<double> Done(const Message& message) {
    const auto known = done_s_.find(message);
    if (known != done_s_.end()) return known->second;
    const std::vector<Side>& sides = sides_[message];
    if (sides.size() < 2) return std::nullopt;
    double done_s = 0.0;
    for (const Side& side : sides) {
      done_s = std::max(done_s, side.issued_s);
      if (!side.before.has_value()) continue;
      const std::optional<double> before_s = Done(*side.before);
      if (!before_s.has_value()) return std::nullopt;
      done_s = std::max(done_s, *before_s);
    }
    done_s_[message] = done_s;
    return done_s;
  }

  const planner::Layout& layout_;
  const std::vector<EventLog>& logs_;
  const planner::PipelineTimes& times_;
  std::vector<size_t> position_;
  std::vector<double> now_s_;
  double last_s_ = 0.0;
  std::map<std::pair<size_t, std::string>, std::optional<Message>> newest_;  // of a rank's group
  std::map<Message, std::vector<Side>> sides_;
  std::map<Message, double> done_s_;
};

// Runs one step of `plan`, whose layout has a pipeline only. Returns what each rank did.
std::vector<EventLog> LogsOf(const trial::TrialPlan& plan) {
  std::vector<EventLog> logs(static_cast<size_t>(plan.layout.pp));
  const std::vector<ThreadRank> ranks = RunOnThreads(
      plan, {.wrap = [&](std::unique_ptr<Communicator> communicator, const GroupSpec& group,
                         int32_t rank) -> std::unique_ptr<Communicator> {
        return std::make_unique<LoggedCommunicator>(std::move(communicator), group,
                                                    logs[static_cast<size_t>(rank)]);
      }});
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(ranks[rank].error, "");
    for (const trial::ActionSpan& span : ranks[rank].records.front().actions) {
      logs[rank].push_back({span.time.begin_s, Event::Stage::kCompute, {}, span.action});
    }
    std::sort(logs[rank].begin(), logs[rank].end(),
              [](const Event& a, const Event& b) { return a.at_s < b.at_s; });
  }
  return logs;
}

planner::PipelineTimes TimesOf(const planner::Layout& layout,
                               const planner::StageDurations& stage) {
  planner::PipelineTimes times;
  times.stages.assign(static_cast<size_t>(planner::StageCount(layout)), stage);
  return times;
}

class MessageOrderTest : public testing::TestWithParam<trial::LayoutCase> {};

TEST_P(MessageOrderTest, ARealStepTakesAsLongAsTheSimulatorsWhereBothSidesOfAMessageWait) {
  const trial::TrialPlan plan = trial::PlanOf(GetParam(), 1);
  const std::vector<EventLog> logs = LogsOf(plan);
  const auto micro_batches =
      static_cast<int32_t>(plan.layout.MicroBatches(plan.training.global_batch));
  for (const planner::StageDurations& stage :
       {planner::StageDurations{1.0, 1.0, 1.0}, planner::StageDurations{2.0, 3.0, 1.0},
        planner::StageDurations{4.0, 4.0, 2.0}}) {
    const planner::PipelineTimes times = TimesOf(plan.layout, stage);
    const planner::Timeline timeline =
        planner::SimulateLayout(plan.layout, micro_batches, times).value();
    const std::optional<double> time_s = VirtualStep(plan.layout, logs, times).Run();
    ASSERT_TRUE(time_s.has_value()) << "ranks block each other";
    EXPECT_NEAR(*time_s / timeline.makespan_s, 1.0, 0.01);
  }
}

// Makes the first message to or from each rank hold both, as a group may that connects then.
class ConnectingCommunicator final : public ForwardingCommunicator {
 public:
  using ForwardingCommunicator::ForwardingCommunicator;

  Pending Send(const at::Tensor& tensor, int32_t to) override {
    return WaitForFirst(ForwardingCommunicator::Send(tensor, to), {true, to});
  }
  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    return WaitForFirst(ForwardingCommunicator::Receive(tensor, from), {false, from});
  }

 private:
  Pending WaitForFirst(Pending work, std::pair<bool, int32_t> end) {
    if (connected_.insert(end).second) work.Wait();
    return work;
  }

  std::set<std::pair<bool, int32_t>> connected_;
};

TEST_P(MessageOrderTest, NobodyIsHeldForEverWhereTheFirstMessageConnects) {
  const std::vector<ThreadRank> ranks =
      RunOnThreads(trial::PlanOf(GetParam(), 1),
                   {.wrap = [](std::unique_ptr<Communicator> communicator, const GroupSpec&,
                               int32_t) -> std::unique_ptr<Communicator> {
                     return std::make_unique<ConnectingCommunicator>(std::move(communicator));
                   }});
  for (const ThreadRank& rank : ranks) EXPECT_EQ(rank.error, "");
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, MessageOrderTest,
    testing::Values(trial::LayoutCase{"tp1.pp4.dp1.sched=gpipe"},
                    trial::LayoutCase{"tp1.pp4.dp1.sched=1f1b"},
                    trial::LayoutCase{"tp1.pp4.dp1.vpp2.sched=interleaved", {.layers = 8}},
                    trial::LayoutCase{"tp1.pp2.dp1.vpp3.sched=interleaved", {.layers = 6}},
                    trial::LayoutCase{"tp1.pp4.dp1.vpp2.sched=breadth_first", {.layers = 8}},
                    trial::LayoutCase{"tp1.pp2.dp1.vpp2.sched=breadth_first"},
                    trial::LayoutCase{"tp1.pp4.dp1.sched=zb_h1"},
                    trial::LayoutCase{"tp1.pp2.dp1.vpp2.sched=zb_v"},
                    trial::LayoutCase{"tp1.pp3.dp1.vpp2.sched=zb_v", {.layers = 6}},
                    trial::LayoutCase{"tp1.pp4.dp1.vpp2.sched=zb_v", {.layers = 8}}),
    [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker
