#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/trial/trial.h"
#include "tests/executor/some_slice.h"
#include "tests/executor/test_models.h"

namespace meshwright::trial {
namespace {

TrialPlan FullPlan() {
  TrialPlan plan;
  plan.model = TinyModel();
  plan.model.tied_embeddings = true;
  plan.model.groups.front().attention.qkv_bias = true;
  plan.model.rope_scaling = {.kind = planner::RopeScalingKind::kLlama3,
                             .factor = 32.0,
                             .low_freq_factor = 2.0,
                             .high_freq_factor = 5.0,
                             .original_max_positions = 4096};
  plan.model.initializer_range = 0.01;
  plan.layout = {.tp = 2, .pp = 2, .dp = 2, .micro_batch = 2};
  plan.training = TinyTraining();
  plan.device = DeviceKind::kCuda;
  plan.steps = 7;
  plan.adaptive = true;
  plan.beat_step_s = 0.5;
  plan.seed = 0xffffffffffffffffu;
  plan.memory_limit_bytes = 123456789012;
  plan.timeout_s = 12.5;
  plan.known_peak_flops = 3.5e9;
  plan.peak_flops = 989e12;
  plan.estimated_bytes = {123456789012, 5};
  plan.estimated_communicator_bytes = {536870912, 6};
  plan.slice = true;
  plan.trace = true;
  return plan;
}

TEST(TrialJsonTest, LayersOfAnotherAttentionSayWhichOne) {
  TrialPlan plan = FullPlan();
  planner::LayerGroup second = plan.model.groups.front();
  EXPECT_FALSE(ToJson(plan)["model"]["groups"][0].contains("heads"));
  second.attention.heads = 2;
  second.attention.kv_heads = 1;
  second.attention.qk_norm = true;
  plan.model.groups.push_back(second);
  const nlohmann::json json = ToJson(plan);
  EXPECT_EQ(json["model"]["heads"], 4);
  EXPECT_EQ(json["model"]["groups"][1]["heads"], 2);
  EXPECT_EQ(TrialPlanFromJson(json).value(), plan);
}

TEST(TrialJsonTest, APlanSurvivesItsJsonForm) {
  const TrialPlan plan = FullPlan();
  const auto json = nlohmann::json::parse(ToJson(plan).dump());
  const auto copy = TrialPlanFromJson(json);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(*copy, plan);
}

TEST(TrialJsonTest, AResultSurvivesItsJsonForm) {
  TrialResult result;
  result.outcome = Outcome::kOom;
  result.message = "rank 1 ran out of memory";
  result.step_s = 0.25;
  result.step_interval = MedianInterval{.low_s = 0.125, .high_s = 0.5};
  result.stop_reason = StopReason::kTight;
  result.slice = SomeSlice();
  result.mfu = 0.5;
  result.mfu_causal = 0.4;
  result.measured_peak_flops = 5e10;
  result.peak_flops = 1e11;
  result.mfu_of_peak = 0.25;
  result.mfu_causal_of_peak = 0.2;
  result.step_times_s = {0.5, 0.25};
  result.losses = {4.25, 4.0};
  result.gradient_norms = {1.5, 1.25};
  result.ranks = {{.rank = 1, .pipeline_rank = 1, .peak_bytes = 5, .estimated_bytes = 6}};
  result.ranks[0].device_memory =
      DeviceMemoryUse{.peak_reserved_bytes = 7, .allocator_retries = 2, .communicator_bytes = 9};
  result.ranks[0].estimated_communicator_bytes = 8;
  result.ranks[0].phases[Phase::kBubble] = 0.125;
  result.ranks[0].communication = {{.group = "tp",
                                    .operation = CommOperation::kAllGather,
                                    .calls = 4,
                                    .bytes = 1024,
                                    .waited_s = 0.5,
                                    .under_way_s = 0.75}};
  result.oom = OomDetail{.rank = 1, .requested_bytes = 2, .held_bytes = 3, .limit_bytes = 4};
  result.worker_version = "0.1.0";
  result.host = "here";
  const auto copy = TrialResultFromJson(nlohmann::json::parse(ToJson(result).dump()));
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(*copy, result);
}

TEST(TrialJsonTest, AResultWithoutAProfileIsOneOfAnEarlierWorker) {
  TrialResult result;
  result.ranks = {{.rank = 1}};
  nlohmann::json json = ToJson(result);
  json["ranks"][0].erase("phases");
  json["ranks"][0].erase("communication");
  const auto copy = TrialResultFromJson(json);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(*copy, result);
  json["ranks"][0]["communication"] = {{{"group", "tp"}}};
  EXPECT_FALSE(TrialResultFromJson(json).ok());
}

TEST(TrialJsonTest, RanksTellWhatTheirDevicesMemoryCameTo) {
  TrialResult result;
  result.ranks = {{.rank = 0,
                   .device_memory = DeviceMemoryUse{.peak_reserved_bytes = 7,
                                                    .allocator_retries = 2,
                                                    .communicator_bytes = 9},
                   .estimated_communicator_bytes = 8},
                  {.rank = 1}};
  const nlohmann::json ranks = ToJson(result)["ranks"];
  EXPECT_EQ(ranks[0]["peak_reserved_bytes"], 7);
  EXPECT_EQ(ranks[0]["allocator_retries"], 2);
  EXPECT_EQ(ranks[0]["communicator_bytes"], 9);
  EXPECT_EQ(ranks[0]["estimated_communicator_bytes"], 8);
  EXPECT_FALSE(ranks[1].contains("peak_reserved_bytes"));
  EXPECT_FALSE(ranks[1].contains("allocator_retries"));
  EXPECT_FALSE(ranks[1].contains("communicator_bytes"));
}

TEST(TrialJsonTest, WithoutAClustersPeakThereIsNoShareOfIt) {
  const nlohmann::json json = ToJson(TrialResult());
  EXPECT_TRUE(json["peak_flops"].is_null());
  EXPECT_TRUE(json["mfu_of_peak"].is_null());
  EXPECT_TRUE(json["mfu_causal_of_peak"].is_null());
  EXPECT_EQ(*TrialResultFromJson(json), TrialResult());
}

struct BadField {
  const char* pointer;
  nlohmann::json value;
  const char* named;
};

class BadPlanTest : public testing::TestWithParam<BadField> {};

TEST_P(BadPlanTest, IsRefusedByNamingTheField) {
  nlohmann::json json = ToJson(FullPlan());
  json[nlohmann::json::json_pointer(GetParam().pointer)] = GetParam().value;
  const auto plan = TrialPlanFromJson(json);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(plan.status().message()), testing::HasSubstr(GetParam().named));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadPlanTest,
    testing::Values(BadField{"/steps", 0, "steps"}, BadField{"/steps", "five", "steps"},
                    BadField{"/device", "abacus", "device"}, BadField{"/layout", "tp0", "tp"},
                    BadField{"/training/precision", "fp8", "fp8"},
                    BadField{"/model/hidden", -1, "hidden"}, BadField{"/seed", "x", "seed"},
                    BadField{"/model/groups", 3, "groups"}, BadField{"/steps", 4294967297, "steps"},
                    BadField{"/memory_limit_bytes", -1, "memory_limit_bytes"},
                    BadField{"/timeout_s", -1.0, "timeout_s"},
                    BadField{"/timeout_s", 1e16, "must be above 0 and at most 604800"}));

// What tests ask of their own worker, and what only a misspelt or newer plan has.
TEST(TrialJsonTest, APlanHasNoFieldsBesideItsOwn) {
  for (const auto& [pointer, value, named] :
       {BadField{"/dump_gradients_dir", "/somewhere", "dump_gradients_dir"},
        BadField{"/fault", {{"kind", "crash"}}, "fault"},
        BadField{"/padded_action_s", {{"forward", 1e9}}, "padded_action_s"},
        BadField{"/sead", 5, "seed"}, BadField{"/training/seqlen", 5, "training.seqlen"},
        BadField{"/model/rope", 5, "model.rope"}}) {
    nlohmann::json json = ToJson(FullPlan());
    json[nlohmann::json::json_pointer(pointer)] = value;
    const auto plan = TrialPlanFromJson(json);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << pointer;
    EXPECT_THAT(std::string(plan.status().message()), testing::HasSubstr(named));
  }
}

TEST(TrialJsonTest, OutcomesHaveTheNamesOfTheContract) {
  for (const char* name : {"ok", "oom", "failed", "timeout", "cancelled"}) {
    EXPECT_EQ(OutcomeName(ParseOutcome(name).value()), name);
  }
  EXPECT_FALSE(ParseOutcome("fine").ok());
}

}  // namespace
}  // namespace meshwright::trial
