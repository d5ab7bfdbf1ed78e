#include "executor/wire/event_details.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "executor/wire/message_codec.h"

namespace meshwright::wire {
namespace {

TrialLeft Ended() {
  return {.layout = "tp2",
          .state = "ok",
          .step_s = 0.5,
          .step_low_s = 0.25,
          .step_high_s = 0.75,
          .mfu = 0.5,
          .mfu_causal = 0.375,
          .peak_bytes = 7,
          .message = "m"};
}

trial::TrialResult Refused() {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.step_s = 0.5;
  result.peak_flops = 1e9;
  return result;
}

const std::vector<std::pair<std::string, EventDetails>>& AllDetails() {
  static const auto* const kAll = new std::vector<std::pair<std::string, EventDetails>>{
      {"sweep_created", std::monostate()},
      {"trial_assigned", TrialPlaced{.layout = "tp2", .agent = "a"}},
      {"trial_running", TrialPlaced{.layout = "tp2", .agent = "a"}},
      {"trial_progress",
       TrialStep{.layout = "tp2", .step = 3, .steps = 5, .step_s = 0.5, .loss = 4.25}},
      {"trial_ended", Ended()},
      {"trial_requeued", TrialLeft{.layout = "tp2", .state = "pending", .agent = "a"}},
      {"result_refused", Refused()}};
  return *kAll;
}

TEST(EventDetailsTest, ComeBackFromTheirTextAndTheirMessage) {
  for (const auto& [kind, details] : AllDetails()) {
    EXPECT_EQ(EventDetailsFromJson(kind, ToJson(details).dump()), details) << kind;
    v1::SweepEvent event;
    SetDetails(details, &event);
    v1::SweepEvent arrived;
    ASSERT_TRUE(arrived.ParseFromString(event.SerializeAsString()));
    EXPECT_EQ(DetailsOf(arrived), details) << kind;
  }
}

// Databases and those who read a command's output have these texts.
TEST(EventDetailsTest, HaveTheKeysThatTheyAlwaysHad) {
  std::vector<std::string> texts;
  for (const auto& [kind, details] : AllDetails()) texts.push_back(ToJson(details).dump());
  EXPECT_EQ(texts[0], "{}");
  EXPECT_EQ(texts[1], R"({"agent":"a","layout":"tp2"})");
  EXPECT_EQ(texts[3], R"({"layout":"tp2","loss":4.25,"step":3,"step_s":0.5,"steps":5})");
  EXPECT_EQ(texts[4],
            R"({"layout":"tp2","message":"m","mfu":0.5,"mfu_causal":0.375,"peak_bytes":7,)"
            R"("state":"ok","step_high_s":0.75,"step_low_s":0.25,"step_s":0.5})");
  EXPECT_EQ(texts[5], R"({"agent":"a","layout":"tp2","state":"pending"})");
  EXPECT_EQ(texts[6], ToJson(Refused()).dump());
}

// Stores keep a kind as its text, messages as an enumerator.
TEST(EventDetailsTest, EveryKindHasAnEnumerator) {
  for (const char* kind : {"sweep_created", "sweep_waiting", "sweep_running", "sweep_finished",
                           "sweep_cancelled", "trial_assigned", "trial_running", "trial_progress",
                           "trial_ended", "trial_requeued", "result_refused"}) {
    EXPECT_EQ(TextOf(EnumOf<v1::SweepEventKind>(kind)), kind);
  }
  EXPECT_EQ(EnumOf<v1::SweepEventKind>("trial_danced"), v1::SWEEP_EVENT_KIND_UNSPECIFIED);
}

TEST(EventDetailsTest, ATextThatIsNoneOfTheKindIsNothing) {
  EXPECT_EQ(EventDetailsFromJson("trial_ended", "{"), EventDetails());
  EXPECT_EQ(EventDetailsFromJson("trial_progress", R"({"step": "three"})"), EventDetails());
  EXPECT_EQ(EventDetailsFromJson("trial_danced", R"({"layout": "tp2"})"), EventDetails());
}

}  // namespace
}  // namespace meshwright::wire
