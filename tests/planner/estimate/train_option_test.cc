// Estimates of runs that train adapters or freeze parts (planner/spec/trained_parts.h), against
// published bounds and against arithmetic.
#include <gtest/gtest.h>

#include "planner/block/parameters.h"
#include "planner/cost/stage_time.h"
#include "planner/estimate/estimate.h"
#include "planner/memory/rank_memory.h"
#include "planner/rules/rule_list.h"
#include "planner/spec/run_option_table.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TestContext TrainContext(const char* train, const char* model = "llama-3-8b") {
  TestContext test = PlainContext(model, 2048, 8);
  test.training.options.train = ParseTrainedParts(train).value();
  return test;
}

Estimate TrainEstimate(const char* train, const char* layout) {
  return EstimateLayout(TrainContext(train).get(), MakeLayout(layout));
}

double RealOf(int64_t value) { return static_cast<double>(value); }

// A workstation card with Hugging Face's stack.
TestContext CardContext(const ModelSpec& model, int64_t memory_bytes, const char* train,
                        int64_t seq_len, int64_t global_batch) {
  TestContext test = MakeContext("llama-3-8b", "l40s", seq_len, global_batch, "hf-fsdp2");
  test.model = model;
  test.cluster.device.memory_bytes = memory_bytes;
  test.training.options.train = ParseTrainedParts(train).value();
  return test;
}

ModelSpec Llama65b() {
  ModelSpec model = FindModel("llama-2-70b").value();
  LayerGroup& layers = model.groups.front();
  layers.attention.kv_heads = 64;
  layers.ffn.hidden = 22016;
  return model;
}

// Returns the share of the card that is filled, if the layout can run.
double FilledShare(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  const auto violation = CheckLayout(test.get(), layout.devices(), layout);
  EXPECT_FALSE(violation) << Describe(*violation);
  const Estimate estimate = EstimateLayout(test.get(), layout);
  EXPECT_LT(estimate.oom_probability, 0.5) << text;
  return estimate.fraction_of_device;
}

// Dettmers et al. (arXiv 2305.14314) train 65B with rank 64 on one card of 48 GB, sequences of 512
// and gradient checkpointing. Their code holds adapters in bf16, and pages the moments out where
// the card is full; here they stay.
TEST(TrainBounds, QloraOf65BOnOneCardOf48Gb) {
  const ModelSpec model = Llama65b();
  EXPECT_EQ(Parameters(model), 65285660672);
  TestContext test = CardContext(model, 48 * kGiB, "qlora:64", 512, 16);
  ASSERT_TRUE(
      run_option::ReadStates("master=none,grad=bf16,m=fp32,v=fp32", test.training.options).ok());
  EXPECT_GT(FilledShare(test, "tp1.pp1.dp1.mb1.zero0.rc=full"), 0.8);
  test.training.options.train = ParseTrainedParts("lora:64").value();
  EXPECT_GT(EstimateLayout(test.get(), MakeLayout("tp1.pp1.dp1.mb1.zero0.rc=full")).oom_probability,
            0.99);
}

// Answer.AI's FSDP and QLoRA (2024): 70B on two cards of 24 GB, with adapters and their states in
// bf16.
TEST(TrainBounds, QloraOf70BWithFsdpOnTwoCardsOf24Gb) {
  const ModelSpec model = FindModel("llama-2-70b").value();
  TestContext test = CardContext(model, 24 * kGiB, "qlora:16", 512, 2);
  ASSERT_TRUE(run_option::ReadStates("bf16", test.training.options).ok());
  EXPECT_GT(FilledShare(test, "tp1.pp1.dp2.mb1.zero3.rc=full"), 0.7);
}

TEST(TrainBounds, QloraOf70BOnTwoCardsOf48Gb) {
  const ModelSpec model = FindModel("llama-3-70b").value();
  const TestContext test = CardContext(model, 48 * kGiB, "qlora:16", 2048, 2);
  FilledShare(test, "tp1.pp1.dp2.mb1.zero3.rc=full");
}

TEST(TrainBounds, LoraOf8BOnOneCardOf24Gb) {
  const ModelSpec model = FindModel("llama-3-8b").value();
  const TestContext test = CardContext(model, 24 * kGiB, "lora:16", 2048, 1);
  EXPECT_GT(FilledShare(test, "tp1.pp1.dp1.mb1.zero0.rc=full"), 0.65);
  const TestContext full = CardContext(model, 24 * kGiB, "full", 2048, 1);
  EXPECT_GT(
      EstimateLayout(full.get(), MakeLayout("tp1.pp1.dp1.mb1.zero0.rc=full")).fraction_of_device,
      4.0);
}

// 2 bytes a weight, of 8,030,261,248 and 41,943,040; gradients and states are the adapters' alone.
TEST(TrainOption, AdaptersAloneHaveGradientsAndStates) {
  const MemoryEstimate one = TrainEstimate("lora:16", "tp1.pp1.dp8.zero0").memory;
  EXPECT_EQ(one.weights_bytes, 2 * (8030261248 + 41943040));
  EXPECT_EQ(one.gradients_bytes, 4 * 41943040);
  EXPECT_EQ(one.optimizer_bytes, 12 * 41943040);
}

TEST(TrainOption, Zero1ShardsWhatTrainsAndZero3TheBaseToo) {
  const MemoryEstimate one = TrainEstimate("lora:16", "tp1.pp1.dp8.zero1").memory;
  EXPECT_EQ(one.weights_bytes, 2 * (8030261248 + 41943040));
  EXPECT_EQ(one.optimizer_bytes, 12 * 41943040 / 8);
  const MemoryEstimate three = TrainEstimate("lora:16", "tp1.pp1.dp8.zero3").memory;
  EXPECT_EQ(three.weights_bytes, 2 * (8030261248 + 41943040) / 8);
  EXPECT_EQ(three.gradients_bytes, 4 * 41943040 / 8);
}

// The matrices of blocks take 0.516 bytes each; embedding, head and norms stay in bf16.
TEST(TrainOption, QloraHoldsMatricesInFourBits) {
  const int64_t wide = 2 * 128256 * 4096 + (2 * 32 + 1) * 4096;
  const int64_t matrices = 8030261248 - wide;
  const MemoryEstimate memory = TrainEstimate("qlora:16", "tp1.pp1.dp8.zero0").memory;
  EXPECT_NEAR(
      RealOf(memory.weights_bytes),
      2.0 * RealOf(wide + 41943040) + RealOf(matrices) * (0.5 + 1.0 / 64 + 4.0 / (64 * 256)), 1.0);
}

TEST(TrainOption, TensorParallelismDividesBaseAndAdapters) {
  const int64_t whole = TrainEstimate("lora:16", "tp1.pp1.dp4.zero0").memory.gradients_bytes;
  const int64_t divided = TrainEstimate("lora:16", "tp4.pp1.dp1.zero0").memory.gradients_bytes;
  // Of q, k, v, gate and up the inputs' side is whole, of o and down the outputs'.
  const int64_t whole_side = 32 * 16 * (5 * 4096 + 2 * 4096);
  EXPECT_EQ(divided, 4 * (whole_side + (whole / 4 - whole_side) / 4));
}

// All-reduces of the adapters' gradients alone; ZeRO-3 gathers the base without reducing it.
TEST(TrainOption, TheBaseHasNoGradientTraffic) {
  const double full_s = TrainEstimate("full", "tp1.pp1.dp8.zero0").time[TimePart::kDp];
  const double lora_s = TrainEstimate("lora:16", "tp1.pp1.dp8.zero0").time[TimePart::kDp];
  EXPECT_NEAR(lora_s / full_s, 41943040.0 / 8030261248.0, 1e-6);
  // Two gathers of 2 bytes and, for what trains, a reduction of 4.
  const double full3_s = TrainEstimate("full", "tp1.pp1.dp8.zero3").time[TimePart::kDp];
  const double lora3_s = TrainEstimate("lora:16", "tp1.pp1.dp8.zero3").time[TimePart::kDp];
  EXPECT_NEAR(lora3_s / full3_s,
              (4.0 * (8030261248.0 + 41943040.0) + 4.0 * 41943040.0) / (8.0 * 8030261248.0), 1e-6);
}

// Not even the latency of an all-reduce: no expert has an adapter.
TEST(TrainOption, FrozenExpertsAreNotReduced) {
  TestContext test = TrainContext("lora:16", "mixtral-8x7b");
  test.cluster.scale_up.hop_latency_s = 1e-3;
  const auto dp_s = [&](const char* layout) {
    return EstimateLayout(test.get(), MakeLayout(layout)).time[TimePart::kDp];
  };
  EXPECT_DOUBLE_EQ(dp_s("tp1.pp1.dp8.ep1.zero0"), dp_s("tp1.pp1.dp8.ep8.zero0"));
}

TEST(TrainOption, AStepOfLoraTakesAboutTwoThirds) {
  const double full_s = TrainEstimate("full", "tp1.pp1.dp8.zero0").time[TimePart::kCompute];
  const double lora_s = TrainEstimate("lora:16", "tp1.pp1.dp8.zero0").time[TimePart::kCompute];
  EXPECT_GT(lora_s / full_s, 2.0 / 3.0);
  EXPECT_LT(lora_s / full_s, 0.8);
}

std::vector<StageDurations> DurationsOf(const char* train, const char* layout) {
  return StageDurationsOf(TrainContext(train).get(), MakeLayout(layout));
}

// A zero-bubble schedule has only the adapters' gradients to fill its bubbles with.
TEST(TrainOption, FrozenProductsHaveNoWeightGradientToSchedule) {
  const auto full = DurationsOf("full", "tp1.pp4.dp1.sched=zb_h1");
  const auto lora = DurationsOf("lora:16", "tp1.pp4.dp1.sched=zb_h1");
  const auto frozen = DurationsOf("frozen:layers=8..15", "tp1.pp4.dp1.sched=zb_h1");
  EXPECT_LT(lora[1].weight_gradient_s, 0.2 * full[1].weight_gradient_s);
  EXPECT_EQ(frozen[1].weight_gradient_s, 0.0);
  EXPECT_DOUBLE_EQ(frozen[1].input_gradient_s, full[1].input_gradient_s);
  EXPECT_DOUBLE_EQ(frozen[2].weight_gradient_s, full[2].weight_gradient_s);
}

TEST(TrainOption, FrozenFirstLayersHaveNoBackward) {
  constexpr const char* kFirst = "frozen:embedding,layers=0..15";
  constexpr const char* kStages = "tp1.pp2.dp1.rc=full";
  const auto durations = DurationsOf(kFirst, kStages);
  EXPECT_EQ(durations[0].total_s(), durations[0].forward_s);
  EXPECT_GT(durations[1].input_gradient_s, 0.0);
  const TestContext first = TrainContext(kFirst);
  const MemoryEstimate rank = EstimateRankMemory(first.get(), MakeLayout(kStages), 0);
  EXPECT_EQ(rank.activations_bytes, 0);
  EXPECT_EQ(rank.gradients_bytes, 0);
  // What is sent and received is held as ever.
  EXPECT_EQ(rank.workspace_bytes, 2 * 2 * 2048 * 4096);
}

// Without the embedding nothing before the first layers trains; with it they pass gradients on.
TEST(TrainOption, FrozenLayersBehindATrainedEmbeddingHaveABackward) {
  const auto durations = DurationsOf("frozen:layers=0..15", "tp1.pp2.dp1");
  EXPECT_GT(durations[0].input_gradient_s, 0.0);
}

TEST(TrainOption, AFrozenHeadKeepsNoInput) {
  const int64_t more = TrainEstimate("full", "tp1.pp1.dp8.zero0").memory.loss_bytes -
                       TrainEstimate("lora:16", "tp1.pp1.dp8.zero0").memory.loss_bytes;
  EXPECT_EQ(more, 2 * 2048 * 4096);
}

}  // namespace
}  // namespace meshwright::planner
