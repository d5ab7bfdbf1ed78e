#include "executor/trial/step_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::trial {
namespace {

CommunicationSpan Span(std::string group, planner::CollectiveKind operation, double issued_s,
                       TimeSpan wait, double done_s, int32_t peer = -1) {
  return {.group = std::move(group),
          .operation = operation,
          .peer = peer,
          .bytes = 100,
          .issued_s = issued_s,
          .returned_s = issued_s,
          .wait = wait,
          .done_s = done_s};
}

StepRecord SomeRecord() {
  StepRecord record;
  record.step = {10.0, 20.0};
  record.phases[Phase::kForward] = 3.0;
  record.phases[Phase::kPipeline] = 7.0;
  record.actions = {{.action = {planner::ActionKind::kForward, 1, 2},
                     .time = {11.0, 12.0},
                     .communication_s = 0.25},
                    {.action = {planner::ActionKind::kBackwardWeight, 0, 0}, .time = {13.0, 14.5}}};
  record.optimizer = {19.0, 20.0};
  record.communication = {
      Span("tp", planner::CollectiveKind::kAllReduce, 11.0, {11.5, 12.0}, 12.0),
      // Two at once: the second begins when the first is done.
      Span("replicas", planner::CollectiveKind::kAllReduce, 13.0, {19.0, 19.0}, 15.0),
      Span("replicas", planner::CollectiveKind::kAllReduce, 14.0, {19.0, 19.5}, 16.0),
      Span("activations_up", planner::CollectiveKind::kSend, 12.0, {16.0, 16.5}, 16.5, 3),
      Span("tp", planner::CollectiveKind::kAllReduce, 14.0, {14.0, 14.25}, 14.25)};
  return record;
}

TEST(StepProfileTest, AddsUpWhatEachGroupDoes) {
  const StepProfile profile = ProfileOf(SomeRecord());
  EXPECT_EQ(profile.phases[Phase::kForward], 3.0);
  ASSERT_EQ(profile.actions.size(), 2u);
  EXPECT_EQ(profile.actions[0], (ActionTotal{.kind = planner::ActionKind::kForward,
                                             .chunk = 2,
                                             .calls = 1.0,
                                             .seconds = 1.0,
                                             .communication_s = 0.25}));
  ASSERT_EQ(profile.communication.size(), 3u);
  const CommunicationTotal& tp = profile.communication[0];
  EXPECT_EQ(tp.group, "tp");
  EXPECT_EQ(tp.calls, 2.0);
  EXPECT_EQ(tp.bytes, 200.0);
  EXPECT_DOUBLE_EQ(tp.waited_s, 0.75);
  EXPECT_DOUBLE_EQ(tp.under_way_s, 1.25);
  const CommunicationTotal& replicas = profile.communication[1];
  EXPECT_DOUBLE_EQ(replicas.waited_s, 0.5);
  EXPECT_DOUBLE_EQ(replicas.under_way_s, 3.0);
  ASSERT_EQ(profile.messages.size(), 1u);
  EXPECT_EQ(profile.messages[0].peer, 3);
  EXPECT_TRUE(profile.messages[0].sent);
}

TEST(StepProfileTest, AllMomentsMoveToAnotherClock) {
  StepRecord record = SomeRecord();
  StepProfile profile = ProfileOf(record);
  ShiftTimes(100.0, record);
  EXPECT_EQ(record.step, (TimeSpan{110.0, 120.0}));
  EXPECT_EQ(record.actions[0].time, (TimeSpan{111.0, 112.0}));
  EXPECT_EQ(record.optimizer, (TimeSpan{119.0, 120.0}));
  EXPECT_EQ(record.communication[3].issued_s, 112.0);
  EXPECT_EQ(record.communication[3].returned_s, 112.0);
  EXPECT_EQ(record.communication[3].wait, (TimeSpan{116.0, 116.5}));
  EXPECT_EQ(record.communication[3].done_s, 116.5);
  // How long things took stays.
  ShiftTimes(100.0, profile);
  EXPECT_EQ(profile, ProfileOf(record));
}

// Rank 1 waits from 2 to 7 for a message that rank 0 sends at 5; rank 0 waits from 8 to 9 for one
// to be taken for which rank 1 comes at 8.5.
TEST(StepProfileTest, WaitingForOneWhoHasNotComeIsBubble) {
  StepRecord first;
  first.phases[Phase::kPipeline] = 1.5;
  first.communication = {
      Span("activations_up", planner::CollectiveKind::kSend, 5.0, {6.5, 7.0}, 7.0, 1),
      Span("activations_up", planner::CollectiveKind::kSend, 7.5, {8.0, 9.0}, 9.0, 1)};
  StepRecord second;
  second.phases[Phase::kPipeline] = 5.5;
  second.communication = {
      Span("activations_up", planner::CollectiveKind::kReceive, 2.0, {2.0, 7.0}, 7.0, 0),
      Span("activations_up", planner::CollectiveKind::kReceive, 8.5, {8.5, 9.0}, 9.0, 0)};
  std::vector<StepProfile> ranks = {ProfileOf(first), ProfileOf(second)};
  MatchMessages(ranks);
  EXPECT_DOUBLE_EQ(ranks[0].phases[Phase::kBubble], 0.5);
  EXPECT_DOUBLE_EQ(ranks[0].phases[Phase::kPipeline], 1.0);
  EXPECT_DOUBLE_EQ(ranks[1].phases[Phase::kBubble], 3.0);
  EXPECT_DOUBLE_EQ(ranks[1].phases[Phase::kPipeline], 2.5);
  // From 5 to 7 and from 8.5 to 9 on both sides.
  EXPECT_DOUBLE_EQ(ranks[0].communication[0].under_way_s, 2.5);
  EXPECT_DOUBLE_EQ(ranks[1].communication[0].under_way_s, 2.5);
}

// Posted at 1, sent at 3, there at 4, needed at 8.
TEST(StepProfileTest, AMessageThatIsThereBeforeItIsNeededIsNotUnderWayUntilThen) {
  StepRecord sender;
  sender.communication = {
      Span("activations_up", planner::CollectiveKind::kSend, 3.0, {9.0, 9.0}, 4.0, 1)};
  StepRecord receiver;
  receiver.communication = {
      Span("activations_up", planner::CollectiveKind::kReceive, 1.0, {8.0, 8.0}, 4.0, 0)};
  std::vector<StepProfile> ranks = {ProfileOf(sender), ProfileOf(receiver)};
  MatchMessages(ranks);
  EXPECT_DOUBLE_EQ(ranks[0].communication[0].under_way_s, 1.0);
  EXPECT_DOUBLE_EQ(ranks[1].communication[0].under_way_s, 1.0);
  EXPECT_EQ(ranks[1].phases[Phase::kBubble], 0.0);
}

TEST(StepProfileTest, WithoutTheOtherSideNothingIsBubble) {
  StepRecord record;
  record.phases[Phase::kPipeline] = 5.0;
  record.communication = {
      Span("gradients_down", planner::CollectiveKind::kReceive, 2.0, {2.0, 7.0}, 7.0, 1)};
  std::vector<StepProfile> ranks = {ProfileOf(record)};
  MatchMessages(ranks);
  EXPECT_EQ(ranks[0].phases[Phase::kBubble], 0.0);
  EXPECT_EQ(ranks[0].phases[Phase::kPipeline], 5.0);
}

TEST(StepProfileTest, MeansAreOverAllSteps) {
  StepProfile one = ProfileOf(SomeRecord());
  StepProfile other = one;
  other.phases[Phase::kForward] = 5.0;
  other.communication.erase(other.communication.begin());
  const StepProfile mean = MeanOf({one, other});
  EXPECT_DOUBLE_EQ(mean.phases[Phase::kForward], 4.0);
  EXPECT_DOUBLE_EQ(mean.communication[0].calls, 1.0);
  EXPECT_DOUBLE_EQ(mean.communication[1].calls, 2.0);
  EXPECT_TRUE(mean.messages.empty());
}

}  // namespace
}  // namespace meshwright::trial
