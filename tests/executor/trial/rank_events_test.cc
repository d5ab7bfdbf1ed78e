#include "executor/trial/rank_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "executor/trial/rank_event_fields.h"
#include "executor/trial/rank_record.h"
#include "planner/codec/json_codec.h"

namespace meshwright::trial {
namespace {

using testing::HasSubstr;

StepRecord SomeStepRecord() {
  StepRecord record;
  record.step = {10.0, 20.0};
  record.phases[Phase::kForward] = 3.0;
  record.actions = {{.action = {planner::ActionKind::kForward, 1, 2},
                     .time = {11.0, 12.0},
                     .communication_s = 0.25},
                    {.action = {planner::ActionKind::kBackwardWeight, 0, 0}, .time = {13.0, 14.5}}};
  record.optimizer = {19.0, 20.0};
  record.communication = {{.group = "tp",
                           .operation = planner::CollectiveKind::kSend,
                           .peer = 3,
                           .bytes = 64,
                           .issued_s = 11.0,
                           .returned_s = 11.25,
                           .wait = {11.5, 12.0},
                           .done_s = 12.0}};
  return record;
}

DoneEvent SomeEnd() {
  return {.stop_reason = StopReason::kTight,
          .peak_bytes = 100,
          .device_memory =
              DeviceMemoryUse{
                  .peak_reserved_bytes = 120, .allocator_retries = 1, .communicator_bytes = 30},
          .peak_in_flight = 2,
          .measured_peak_flops = 1e9,
          .trace = TracedStep{.name = "rank 3", .record = SomeStepRecord()}};
}

template <typename Event>
Event Sent(const Event& event) {
  return std::get<Event>(RankEventFromJson(nlohmann::json::parse(ToJson(event).dump())).value());
}

TEST(RankEventsTest, WhatARankTellsArrives) {
  const StepEvent step = Sent(StepEvent{.step = 4,
                                        .step_s = 0.5,
                                        .profile = ProfileOf(SomeStepRecord()),
                                        .gradient_square_sum = 2.5});
  EXPECT_EQ(step.step, 4);
  EXPECT_EQ(step.step_s, 0.5);
  EXPECT_EQ(step.profile, ProfileOf(SomeStepRecord()));
  EXPECT_EQ(step.loss, std::nullopt);
  EXPECT_EQ(step.gradient_square_sum, 2.5);
  const DoneEvent done = Sent(SomeEnd());
  EXPECT_EQ(done.stop_reason, StopReason::kTight);
  EXPECT_EQ(done.device_memory, SomeEnd().device_memory);
  EXPECT_EQ(done.peak_in_flight, 2);
  ASSERT_TRUE(done.trace.has_value());
  EXPECT_EQ(done.trace->name, "rank 3");
  EXPECT_EQ(done.trace->record, SomeStepRecord());
  EXPECT_EQ(Sent(HelloEvent{.pid = 7, .host = "here", .version = "1"}).host, "here");
  EXPECT_EQ(Sent(ErrorEvent{.kind = ErrorKind::kPlan, .message = "m"}).kind, ErrorKind::kPlan);
}

TEST(RankEventsTest, SpansAreListsWithoutKeys) {
  EXPECT_EQ(
      planner::WriteJson(SomeStepRecord()).dump(),
      R"({"actions":[["F",1,2,[11.0,12.0],0.25],["W",0,0,[13.0,14.5],0.0]],"communication":[["t)"
      R"(p","send",3,64,11.0,[11.5,12.0],12.0,11.25]],"optimizer":[19.0,20.0],"phases":{"backwa)"
      R"(rd_s":0.0,"bubble_s":0.0,"context_parallel_s":0.0,"data_parallel_s":0.0,"forward_s":3.)"
      R"(0,"optimizer_s":0.0,"other_s":0.0,"pipeline_s":0.0,"tensor_parallel_s":0.0},"step":[10)"
      R"(.0,20.0]})");
  EXPECT_EQ(
      planner::WriteJson(ProfileOf(SomeStepRecord())).dump(),
      R"({"actions":[{"calls":1.0,"chunk":2,"communication_s":0.25,"kind":"F","seconds":1.0},{")"
      R"(calls":1.0,"chunk":0,"communication_s":0.0,"kind":"W","seconds":1.5}],"communication":)"
      R"([{"bytes":64.0,"calls":1.0,"group":"tp","operation":"send","under_way_s":1.0,"waited_s)"
      R"(":0.5}],"messages":[{"done_s":[12.0],"group":"tp","issued_s":[11.0],"peer":3,"sent":tr)"
      R"(ue,"waits":[[11.5,12.0]]}],"phases":{"backward_s":0.0,"bubble_s":0.0,"context_parallel)"
      R"(_s":0.0,"data_parallel_s":0.0,"forward_s":3.0,"optimizer_s":0.0,"other_s":0.0,"pipelin)"
      R"(e_s":0.0,"tensor_parallel_s":0.0}})");
}

TEST(RankEventsTest, WhatIsUnknownIsRefusedByItsPath) {
  nlohmann::json json = ToJson(SomeEnd());
  json["trace"]["record"]["actions"][1][0] = "X";
  EXPECT_EQ(RankEventFromJson(json).status().message(),
            "trace.record.actions[1][0] = X: must be one of F, B, I, W, S, T");
  json = ToJson(SomeEnd());
  json["trace"]["record"]["communication"][0][1] = "guess";
  EXPECT_THAT(std::string(RankEventFromJson(json).status().message()),
              HasSubstr("trace.record.communication[0][1] = guess"));
  EXPECT_FALSE(RankEventFromJson({{"rank", 1}}).ok());
}

TEST(RankEventsTest, AnEventOfAnotherKindIsNoneOfATrial) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(
      RankEventFromJson({{"event", "measured"}, {"done", 3}}).value()));
}

TEST(RankEventsTest, ALossThatIsNotFiniteFailsTheRank) {
  RankRecord record;
  const StepEvent event{.step = 2, .step_s = 0.5, .loss = std::nan("")};
  ApplyEvent(ToJson(event).dump(), record);
  ASSERT_TRUE(record.failure.has_value());
  EXPECT_EQ(record.failure->message, "had a loss that is not finite in step 2");
  EXPECT_TRUE(record.losses.empty());
  EXPECT_EQ(record.finished_steps(), 1);
}

}  // namespace
}  // namespace meshwright::trial
