#include "planner/schedule/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

// "post B0.c0, wait B0.c0, B0.c0, sent F0.c0, send B0.c0"
std::string MessagesText(const std::vector<Instruction>& plan, const std::vector<Action>& actions) {
  constexpr const char* kNames[] = {"post ", "wait ", "", "sent ", "send "};
  std::string text;
  for (const Instruction& instruction : plan) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", kNames[static_cast<size_t>(instruction.kind)],
                    FormatAction(actions[static_cast<size_t>(instruction.action)]));
  }
  return text;
}

std::string PlanOf(const Layout& layout, int32_t rank, int32_t micro_batches) {
  const std::vector<Action> actions = MakeSchedule(layout, rank, micro_batches).value();
  return MessagesText(PlanMessages(layout, rank, actions, 1), actions);
}

TEST(PlanMessages, PostsTheNextReceiveBeforeItComputesAndSendsBehind) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 2, 1);
  EXPECT_EQ(PlanOf(layout, 0, 2),
            "post B0.c0, F0.c0, send F0.c0, F1.c0, sent F0.c0, send F1.c0, wait B0.c0, post B1.c0, "
            "B0.c0, wait B1.c0, B1.c0, sent F1.c0");
  EXPECT_EQ(PlanOf(layout, 1, 2),
            "post F0.c0, wait F0.c0, post F1.c0, F0.c0, B0.c0, send B0.c0, wait F1.c0, F1.c0, "
            "B1.c0, sent B0.c0, send B1.c0, sent B1.c0");
}

TEST(PlanMessages, SendsNothingBetweenChunksOfARank) {
  const Layout layout = Pipeline(ScheduleKind::kBreadthFirst, 1, 2);
  EXPECT_EQ(PlanOf(layout, 0, 1), "F0.c0, F0.c1, B0.c1, B0.c0");
}

// What every plan keeps to, whatever the schedule.
class PlanChecker {
 public:
  PlanChecker(const Layout& layout, int32_t rank, const std::vector<Action>& actions,
              int64_t open_sends)
      : layout_(layout), rank_(rank), actions_(actions), open_sends_(open_sends) {}

  void Check(const std::vector<Instruction>& plan) {
    for (const Instruction& instruction : plan) Step(instruction);
    EXPECT_EQ(computed_, static_cast<int32_t>(actions_.size()));
    EXPECT_TRUE(posted_.empty());
    for (const auto& [lane, sends] : open_) EXPECT_TRUE(sends.empty());
  }

 private:
  void Step(const Instruction& instruction) {
    const int32_t index = instruction.action;
    const Action& action = actions_[static_cast<size_t>(index)];
    const MessageEnd output = OutputOf(layout_, rank_, action);
    std::vector<int32_t>& sends = open_[{action.kind == ActionKind::kForward, output.way}];
    switch (instruction.kind) {
      case InstructionKind::kPostReceive:
        EXPECT_TRUE(InputOf(layout_, rank_, action).on_lane());
        EXPECT_GT(index, last_posted_);
        last_posted_ = index;
        posted_.push_back(index);
        EXPECT_LE(posted_.size(), 1U);
        break;
      case InstructionKind::kAwaitReceive:
        EXPECT_EQ(index, computed_);
        EXPECT_EQ(posted_, std::vector{index});
        posted_.clear();
        received_ = index;
        break;
      case InstructionKind::kCompute:
        EXPECT_EQ(index, computed_++);
        if (InputOf(layout_, rank_, action).on_lane()) {
          EXPECT_EQ(received_, index);
        }
        break;
      case InstructionKind::kAwaitSend:
        ASSERT_FALSE(sends.empty());
        EXPECT_EQ(sends.front(), index);
        sends.erase(sends.begin());
        break;
      case InstructionKind::kSend:
        EXPECT_TRUE(output.on_lane());
        EXPECT_EQ(index, computed_ - 1);
        sends.push_back(index);
        EXPECT_LE(static_cast<int64_t>(sends.size()), open_sends_);
        break;
    }
  }

  const Layout& layout_;
  const int32_t rank_;
  const std::vector<Action>& actions_;
  const int64_t open_sends_;
  int32_t computed_ = 0;
  int32_t last_posted_ = -1;
  int32_t received_ = -1;
  std::vector<int32_t> posted_;
  std::map<std::pair<bool, Way>, std::vector<int32_t>> open_;
};

TEST(PlanMessages, KeepsToItsRulesUnderEverySchedule) {
  ForEachPipeline(5, 3, 10, [](const Layout& layout, int32_t m) {
    for (const int64_t open_sends : {1, 3}) {
      for (int32_t rank = 0; rank < layout.pp; ++rank) {
        SCOPED_TRACE(absl::StrCat(Name(layout, m), " rank ", rank));
        const std::vector<Action> actions = MakeSchedule(layout, rank, m).value();
        PlanChecker(layout, rank, actions, open_sends)
            .Check(PlanMessages(layout, rank, actions, open_sends));
      }
    }
  });
}

// ForEachLane()'s lanes as a list.
std::vector<Lane> LanesOf(const Layout& layout, int32_t rank) {
  std::vector<Lane> lanes;
  ForEachLane(layout, rank, [&](const Lane& lane) { lanes.push_back(lane); });
  return lanes;
}

TEST(LanesOf, BothEndsOfALaneHaveIt) {
  ForEachPipeline(6, 3, 6, [](const Layout& layout, int32_t m) {
    if (m != layout.pp) return;
    SCOPED_TRACE(Name(layout, m));
    for (int32_t rank = 0; rank < layout.pp; ++rank) {
      for (const Lane& lane : LanesOf(layout, rank)) {
        EXPECT_TRUE(lane.from == rank || lane.to == rank);
        EXPECT_EQ(lane.up, lane.to > lane.from);
        EXPECT_THAT(LanesOf(layout, lane.from), testing::Contains(lane));
        EXPECT_THAT(LanesOf(layout, lane.to), testing::Contains(lane));
      }
    }
  });
}

TEST(LanesOf, ARankSendsToOneOtherAtMostByKindAndDirection) {
  ForEachPipeline(6, 3, 6, [](const Layout& layout, int32_t m) {
    if (m != layout.pp) return;
    SCOPED_TRACE(Name(layout, m));
    for (int32_t rank = 0; rank < layout.pp; ++rank) {
      std::map<std::tuple<bool, bool, bool>, int32_t> ends;
      for (const Lane& lane : LanesOf(layout, rank)) {
        EXPECT_EQ((++ends[{lane.activations, lane.up, lane.from == rank}]), 1);
      }
    }
  });
}

TEST(LanesOf, AChainHasOneEachWayBetweenNeighbours) {
  const Layout layout = Pipeline(ScheduleKind::k1f1b, 4, 1);
  EXPECT_THAT(LanesOf(layout, 0),
              testing::ElementsAre(Lane{true, true, 0, 1}, Lane{false, false, 1, 0}));
  EXPECT_THAT(LanesOf(layout, 2),
              testing::ElementsAre(Lane{true, true, 2, 3}, Lane{true, true, 1, 2},
                                   Lane{false, false, 2, 1}, Lane{false, false, 3, 2}));
  EXPECT_TRUE(LanesOf(Pipeline(ScheduleKind::k1f1b, 1, 1), 0).empty());
}

// Sets lanes up as ranks do: both ends wait for each other. Returns how many rounds it takes, in
// each of which every lane whose ends have come to it is set up.
int32_t RoundsToSetUp(const Layout& layout) {
  std::vector<std::vector<Lane>> left;
  left.reserve(static_cast<size_t>(layout.pp));
  for (int32_t rank = 0; rank < layout.pp; ++rank) left.push_back(LanesOf(layout, rank));
  int32_t rounds = 0;
  while (std::any_of(left.begin(), left.end(), [](const auto& lanes) { return !lanes.empty(); })) {
    std::vector<Lane> met;
    for (int32_t rank = 0; rank < layout.pp; ++rank) {
      if (left[rank].empty()) continue;
      const Lane& next = left[rank].front();
      const std::vector<Lane>& other = left[next.from == rank ? next.to : next.from];
      if (next.from == rank && !other.empty() && other.front() == next) met.push_back(next);
    }
    if (met.empty()) return -1;
    for (const Lane& lane : met) {
      left[lane.from].erase(left[lane.from].begin());
      left[lane.to].erase(left[lane.to].begin());
    }
    ++rounds;
  }
  return rounds;
}

TEST(LanesOf, AreSetUpInAnOrderThatBlocksNobodyAndIsShort) {
  ForEachPipeline(9, 3, 9, [](const Layout& layout, int32_t m) {
    if (m != layout.pp) return;
    const int32_t rounds = RoundsToSetUp(layout);
    EXPECT_GE(rounds, 0) << Name(layout, m);
    EXPECT_LE(rounds, 8) << Name(layout, m);
  });
}

}  // namespace
}  // namespace meshwright::planner
