#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "executor/trial/trial.h"
#include "tests/executor/some_slice.h"
#include "tests/executor/test_models.h"
#include "tests/planner/changed_options.h"

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
  plan.device = planner::DeviceKind::kCuda;
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

TEST(TrialJsonTest, HowAModelDiffersFromLlamasFamilyIsSaid) {
  TrialPlan plan = FullPlan();
  planner::ModelSpec& model = plan.model;
  model.head_bias = true;
  model.embedding_norm = true;
  model.norm = planner::StreamNorm::kLayerWithoutBias;
  model.arrangement = planner::Arrangement::kParallelOneNorm;
  model.positions = planner::Positions::kLearned;
  model.learned_positions = 1024;
  model.rotary_share = 0.25;
  model.groups.front().attention.output_bias = true;
  model.groups.front().ffn = {.kind = planner::FfnKind::kRelu, .hidden = 48, .bias = true};
  planner::LayerGroup second = model.groups.front();
  second.attention.output_bias = false;
  second.attention.qk_norm = true;
  second.attention.qk_norm_over_width = true;
  second.ffn.bias = false;
  model.groups.push_back(second);
  const nlohmann::json json = ToJson(plan);
  EXPECT_EQ(json["model"]["positions"], "learned");
  EXPECT_EQ(json["model"]["groups"][1]["output_bias"], false);
  EXPECT_EQ(TrialPlanFromJson(json).value(), plan);
}

TEST(TrialJsonTest, TheTrainingSaysTheOptionsOfItsRun) {
  for (const planner::ChangedOption& option : planner::kChangedOptions) {
    TrialPlan plan = FullPlan();
    plan.training.optimizer = planner::kAdamW;
    const std::string name(option.name);
    EXPECT_FALSE(ToJson(plan)["training"].contains(name));
    plan.training = planner::WithOption(plan.training, option);
    EXPECT_EQ(ToJson(plan)["training"][name], std::string(option.value));
    EXPECT_EQ(TrialPlanFromJson(ToJson(plan)).value(), plan);
    nlohmann::json other = ToJson(plan);
    other["training"][name] = "magic";
    EXPECT_EQ(FieldOf(TrialPlanFromJson(other).status()), name);
  }
  TrialPlan plan = FullPlan();
  plan.training.options = {.loss_chunks = 8, .document_tokens = 512};
  EXPECT_EQ(TrialPlanFromJson(ToJson(plan)).value(), plan);
}

TEST(TrialJsonTest, LayersSayTheirWindowsAndLatents) {
  TrialPlan plan = FullPlan();
  planner::LayerGroup layer = plan.model.groups.front();
  layer.attention.window = 6;
  plan.model.groups.push_back(layer);
  EXPECT_EQ(ToJson(plan)["model"]["groups"][1]["window"], 6);
  EXPECT_FALSE(ToJson(plan)["model"].contains("window"));
  EXPECT_EQ(TrialPlanFromJson(ToJson(plan)).value(), plan);
  plan.model.groups.front().attention = TinyLatentAttention(/*value_dim=*/8);
  EXPECT_EQ(ToJson(plan)["model"]["kv_rank"], 6);
  EXPECT_EQ(TrialPlanFromJson(ToJson(plan)).value(), plan);
}

TEST(TrialJsonTest, LayersSayTheirSinksAndWhatMovesTheirRouters) {
  TrialPlan plan = FullPlan();
  planner::LayerGroup layer = plan.model.groups.front();
  layer.attention.sinks = true;
  layer.ffn.bias = true;
  layer.ffn.clamp = 7.0;
  layer.ffn.experts = {.count = 8, .top_k = 2, .selection_bias = true, .bias_update_rate = 0.5};
  plan.model.groups.push_back(layer);
  const nlohmann::json group = ToJson(plan)["model"]["groups"][1];
  EXPECT_EQ(group["sinks"], true);
  EXPECT_EQ(group["ffn_clamp"], 7.0);
  EXPECT_EQ(group["experts"]["bias_update_rate"], 0.5);
  EXPECT_EQ(TrialPlanFromJson(ToJson(plan)).value(), plan);
  plan.model.groups = {layer};
  EXPECT_EQ(ToJson(plan)["model"]["sinks"], true);
  EXPECT_EQ(TrialPlanFromJson(ToJson(plan)).value(), plan);
}

// Databases hold this text, and workers of other versions read it.
constexpr char kPlanText[] =
    R"({"adaptive":true,"beat_step_s":0.5,"device":"cuda","estimated_bytes":[123456789012,5],)"
    R"("estimated_communicator_bytes":[536870912,6],"known_peak_flops":3500000000.0,"layout":)"
    R"("tp2.cp1.pp2.dp2.mb2.vpp1.zero0.sp0.rc=none.sched=1f1b","memory_limit_bytes":123456789)"
    R"(012,"model":{"groups":[{"count":4,"ffn":"swiglu","ffn_hidden":48}],"head_dim":8,"heads)"
    R"(":4,"hidden":32,"initializer_range":0.02,"kv_heads":2,"name":"tiny","norm_epsilon":1e-)"
    R"(05,"qk_norm":false,"qkv_bias":false,"rope_scaling":{"factor":1.0,"high_freq_factor":4.)"
    R"(0,"low_freq_factor":1.0,"original_max_position_embeddings":8192,"rope_type":"default"})"
    R"(,"rope_theta":10000.0,"tied_embeddings":false,"vocab":64},"peak_flops":989000000000000)"
    R"(.0,"seed":18446744073709551615,"slice":true,"steps":7,"timeout_s":12.5,"trace":true,"t)"
    R"(raining":{"global_batch":8,"precision":"fp32","seq_len":16}})";

TEST(TrialJsonTest, APlansTextStaysAsItIs) {
  TrialPlan plan = FullPlan();
  plan.model = TinyModel();
  EXPECT_EQ(ToJson(plan).dump(), kPlanText);
}

TEST(TrialJsonTest, APlanSurvivesItsJsonForm) {
  const TrialPlan plan = FullPlan();
  const auto json = nlohmann::json::parse(ToJson(plan).dump());
  const auto copy = TrialPlanFromJson(json);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(*copy, plan);
}

TrialResult FullResult() {
  TrialResult result;
  result.outcome = TrialOutcome::kOom;
  result.message = "rank 1 ran out of memory";
  result.step_s = 0.25;
  result.step_interval = MedianInterval{.low_s = 0.125, .high_s = 0.5};
  result.stop_reason = StopReason::kTight;
  result.slice = SomeSlice();
  result.mfu = 0.5;
  result.mfu_causal = 0.375;
  result.measured_peak_flops = 5e10;
  result.peak_flops = 1e11;
  result.mfu_of_peak = 0.25;
  result.mfu_causal_of_peak = 0.1875;
  result.step_times_s = {0.5, 0.25};
  result.losses = {4.25, 4.0};
  result.gradient_norms = {1.5, 1.25};
  result.ranks = {{.rank = 1,
                   .pipeline_rank = 1,
                   .peak_bytes = 5,
                   .estimated_bytes = 6,
                   .peak_in_flight = 2,
                   .device_memory = DeviceMemoryUse{.peak_reserved_bytes = 7,
                                                    .allocator_retries = 2,
                                                    .communicator_bytes = 9},
                   .estimated_communicator_bytes = 8}};
  ForEachPhase([&](Phase phase) {
    // Results of models without experts read as they always did.
    if (phase == Phase::kExpertParallel) return;
    result.ranks[0].phases[phase] = 0.5 + static_cast<double>(phase);
  });
  result.ranks[0].communication = {{.group = "tp",
                                    .operation = planner::CollectiveKind::kAllGather,
                                    .calls = 4,
                                    .bytes = 1024,
                                    .waited_s = 0.5,
                                    .under_way_s = 0.75}};
  result.oom = OomDetail{
      .rank = 1, .pipeline_rank = 1, .requested_bytes = 2, .held_bytes = 3, .limit_bytes = 4};
  result.worker_version = "0.1.0";
  result.host = "here";
  result.failed_agent = "b";
  return result;
}

// Databases, agents' folders and scripts hold this text.
constexpr char kFullResult[] =
    R"({"failed_agent":"b","gradient_norms":[1.5,1.25],"host":"here","losses":[4.25,4.0],"measured_peak_flops":5)"
    R"(0000000000.0,"message":"rank 1 ran out of memory","mfu":0.5,"mfu_causal":0.375,"mfu_ca)"
    R"(usal_of_peak":0.1875,"mfu_of_peak":0.25,"oom":{"held_bytes":3,"limit_bytes":4,"pipelin)"
    R"(e_rank":1,"rank":1,"requested_bytes":2},"outcome":"oom","peak_flops":100000000000.0,"r)"
    R"(anks":[{"allocator_retries":2,"communication":[{"bytes":1024.0,"calls":4.0,"group":"tp)"
    R"(","operation":"all_gather","under_way_s":0.75,"waited_s":0.5}],"communicator_bytes":9,)"
    R"("estimated_bytes":6,"estimated_communicator_bytes":8,"peak_bytes":5,"peak_in_flight":2)"
    R"(,"peak_reserved_bytes":7,"phases":{"backward_s":2.5,"bubble_s":6.5,"context_parallel_s)"
    R"(":4.5,"data_parallel_s":7.5,"forward_s":1.5,"optimizer_s":8.5,"other_s":0.5,"pipeline_)"
    R"(s":5.5,"tensor_parallel_s":3.5},"pipeline_rank":1,"rank":1}],"slice":{"measured":{"com)"
    R"(pute_s":2.0,"optimizer_s":3.0,"stages":[{"actions":[{"chunk":1,"compute_s":0.5,"kind":)"
    R"("I"}],"estimated_bytes":8,"measured_rank":1,"optimizer_s":0.75,"peak_bytes":7,"pipelin)"
    R"(e_ranks":[1,2]}]},"modelled":{"cluster":"h100","cp_s":5.0,"dp_s":7.0,"hop_s":1.0,"oper)"
    R"(ations":[{"bytes":4096,"calls":12.0,"group":"tp","measured_rank":1,"operation":"all_ga)"
    R"(ther","ranks":8,"seconds":0.5,"stride":2}],"pp_s":6.0,"stages":[{"actions":[{"chunk":1)"
    R"(,"cp_s":0.125,"dp_s":0.0625,"kind":"I","tp_s":0.25}],"dp_behind_s":1.5,"measured_rank")"
    R"(:1}],"straggler_s":8.0,"tp_s":4.0},"simulated":{"bubble_s":9.0,"step_s":44.0}},"step_i)"
    R"(nterval":{"high_s":0.5,"low_s":0.125},"step_s":0.25,"step_times_s":[0.5,0.25],"stop_re)"
    R"(ason":"tight","worker_version":"0.1.0"})";
constexpr char kEmptyResult[] =
    R"({"gradient_norms":[],"host":"","losses":[],"measured_peak_flops":0.0,"message":"","mfu)"
    R"(":0.0,"mfu_causal":null,"mfu_causal_of_peak":null,"mfu_of_peak":null,"outcome":"failed)"
    R"(","peak_flops":null,"ranks":[],"step_s":0.0,"step_times_s":[],"stop_reason":"","worker)"
    R"(_version":""})";

TEST(TrialJsonTest, AResultSurvivesItsJsonForm) {
  const auto copy = TrialResultFromJson(nlohmann::json::parse(ToJson(FullResult()).dump()));
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(*copy, FullResult());
}

TEST(TrialJsonTest, AResultsTextStaysAsItIs) {
  EXPECT_EQ(ToJson(FullResult()).dump(), kFullResult);
  EXPECT_EQ(ToJson(TrialResult()).dump(), kEmptyResult);
}

TEST(TrialJsonTest, ASliceWithoutAPartOfItsFiguresIsRefused) {
  nlohmann::json json = ToJson(FullResult());
  json["slice"]["modelled"].erase("tp_s");
  EXPECT_EQ(TrialResultFromJson(json).status().message(),
            "slice.modelled.tp_s = (absent): this key is needed");
  json = ToJson(FullResult());
  json["slice"].erase("simulated");
  EXPECT_FALSE(TrialResultFromJson(json).ok());
}

TEST(TrialJsonTest, WhatIsWrongInAResultHasAPath) {
  nlohmann::json json = ToJson(FullResult());
  json["ranks"][0]["communication"][0]["operation"] = "guess";
  EXPECT_THAT(std::string(TrialResultFromJson(json).status().message()),
              testing::StartsWith("ranks[0].communication[0].operation = guess: must be one of"));
  json = ToJson(FullResult());
  json["outcome"] = "fine";
  EXPECT_EQ(TrialResultFromJson(json).status().message(),
            "outcome = fine: must be one of ok, oom, failed, timeout, cancelled");
}

TEST(TrialJsonTest, WhatANewerWorkerTellsIsPassedOver) {
  nlohmann::json json = ToJson(FullResult());
  json["mood"] = "calm";
  json["ranks"][0]["mood"] = "calm";
  EXPECT_EQ(TrialResultFromJson(json).value(), FullResult());
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

}  // namespace
}  // namespace meshwright::trial
