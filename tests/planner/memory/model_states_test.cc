#include "planner/memory/model_states.h"

#include <gtest/gtest.h>

#include "planner/block/parameters.h"
#include "planner/memory/rank_memory.h"
#include "planner/profile/planned_layout.h"
#include "planner/spec/run_option_table.h"
#include "planner/worker_memory/unit_shards.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

int64_t StateBytes(const MemoryEstimate& m) {
  return m.weights_bytes + m.gradients_bytes + m.optimizer_bytes;
}

TEST(ModelStates, OnOneDeviceAreEighteenBytesPerParameter) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const MemoryEstimate memory = EstimateRankMemory(context.get(), MakeLayout("tp1.pp1.dp1"), 0);
  EXPECT_EQ(StateBytes(memory), 18 * Parameters(context.model));
}

TEST(ModelStates, FollowTheZeroStage) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const int64_t n = Parameters(context.model);
  const auto states = [&context](const char* layout) {
    return static_cast<double>(
        StateBytes(EstimateRankMemory(context.get(), MakeLayout(layout), 0)));
  };
  const auto d = static_cast<double>(n);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero0"), d * 18.0, 16);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero1"), d * (6.0 + 12.0 / 8), 16);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero2"), d * (2.0 + 16.0 / 8), 16);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero3"), d * 18.0 / 8, 32);
  EXPECT_NEAR(states("tp1.cp2.pp1.dp4.zero1"), d * (6.0 + 12.0 / 8), 16);
  // HSDP divides them among fewer.
  EXPECT_NEAR(states("tp1.pp1.dp8.zero1.hs=4"), d * (6.0 + 12.0 / 4), 16);
  EXPECT_NEAR(states("tp1.cp2.pp1.dp4.zero3.hs=4"), d * 18.0 / 4, 32);
}

// Muon keeps one moment for matrices of blocks, and AdamW's two for embeddings and norms.
TEST(ModelStates, OfMuonLackAMomentOfMatrices) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const auto optimizer = [&context](const char* layout) {
    return static_cast<double>(
        EstimateRankMemory(context.get(), MakeLayout(layout), 0).optimizer_bytes);
  };
  const auto matrices = static_cast<double>(
      context.model.layers() * ProjectionParameters(context.model, context.model.groups.front()));
  for (const auto& [layout, owners] : {std::pair{"tp1.pp1.dp8.zero0", 1.0},
                                       {"tp1.pp1.dp8.zero1", 8.0},
                                       {"tp1.pp1.dp8.zero3", 8.0},
                                       {"tp2.pp1.dp4.zero1.sp1", 8.0}}) {
    context.training.optimizer = kAdamW;
    const double adamw = optimizer(layout);
    context.training.optimizer = kMuon;
    EXPECT_NEAR(adamw - optimizer(layout), 4.0 * matrices / owners, 64.0) << layout;
  }
}

// Weights, gradient and states of a parameter, bytes; 256 values of int8 have an fp32 scale.
TEST(ModelStates, AreAsNarrowAsTheRunsOptionSays) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const auto n = static_cast<double>(Parameters(context.model));
  const auto bytes = [&](const char* states, const char* layout) {
    EXPECT_TRUE(run_option::ReadStates(states, context.training.options).ok()) << states;
    const MemoryEstimate memory = EstimateRankMemory(context.get(), MakeLayout(layout), 0);
    return static_cast<double>(StateBytes(memory)) / n;
  };
  constexpr double kScales = 2.0 * 4.0 / 256.0;
  const char* one = "tp1.pp1.dp1.zero0";
  EXPECT_NEAR(bytes("fp32", one), 18.0, 1e-6);
  EXPECT_NEAR(bytes("bf16", one), 2.0 + 2.0 + 4.0, 1e-6);
  EXPECT_NEAR(bytes("adam8bit", one), 2.0 + 2.0 + 2.0 + kScales, 1e-6);
  EXPECT_NEAR(bytes("precision-aware", one), 2.0 + 4.0 + 8.0, 1e-6);
  EXPECT_NEAR(bytes("bf16-grads", one), 2.0 + 2.0 + 12.0, 1e-6);
  EXPECT_NEAR(bytes("master=fp32,grad=bf16,m=int8,v=int8", one), 2.0 + 2.0 + 4.0 + 2.0 + kScales,
              1e-6);
  EXPECT_NEAR(bytes("bf16", "tp1.pp1.dp8.zero1"), 4.0 + 4.0 / 8.0, 1e-6);
  EXPECT_NEAR(bytes("bf16", "tp1.pp1.dp8.zero3"), 8.0 / 8.0, 1e-6);
}

TEST(ModelStates, OfOtherOptimizersLackMoments) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const auto n = static_cast<double>(Parameters(context.model));
  const auto bytes = [&](const Optimizer& optimizer, const char* layout) {
    context.training.optimizer = optimizer;
    return static_cast<double>(
               StateBytes(EstimateRankMemory(context.get(), MakeLayout(layout), 0))) /
           n;
  };
  EXPECT_NEAR(bytes(kSgd, "tp1.pp1.dp1.zero0"), 14.0, 1e-6);
  EXPECT_NEAR(bytes(kLion, "tp1.pp1.dp1.zero0"), 14.0, 1e-6);
  EXPECT_NEAR(bytes(kAdafactor, "tp1.pp1.dp1.zero0"), 10.0, 1e-6);
  EXPECT_NEAR(bytes(kLion, "tp1.pp1.dp8.zero3"), 14.0 / 8.0, 1e-6);
}

// FSDP holds fp32 weights alone; without a master copy it holds the bf16 ones.
TEST(ModelStates, OfFsdpInBf16AreEightBytes) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  context.profile = FindProfile("torchtitan-fsdp").value();
  const auto n = static_cast<double>(Parameters(context.model));
  const auto bytes = [&] {
    return static_cast<double>(
               StateBytes(EstimateRankMemory(context.get(), MakeLayout("tp1.pp1.dp8.zero3"), 0))) *
           8.0 / n;
  };
  EXPECT_NEAR(bytes(), 16.0, 1e-5);
  ASSERT_TRUE(run_option::ReadStates("bf16", context.training.options).ok());
  EXPECT_NEAR(bytes(), 8.0, 1e-5);
}

TEST(ModelStates, OfMuonInBf16HaveOneMomentOfMatrices) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const StateWidths fp32 = StateWidthsOf(context.get());
  EXPECT_EQ(fp32.Of(kAdamWRule), 12.0);
  EXPECT_EQ(fp32.Of(kMuon.matrices), 8.0);
  EXPECT_EQ(UpdateTrafficBytes(context.get(), kAdamWRule), 30.0);
  ASSERT_TRUE(run_option::ReadStates("bf16", context.training.options).ok());
  const StateWidths bf16 = StateWidthsOf(context.get());
  EXPECT_EQ(bf16.Of(kAdamWRule), 4.0);
  EXPECT_EQ(bf16.Of(kMuon.matrices), 2.0);
  // It reads the gradient, and reads and writes the weight and both moments.
  EXPECT_EQ(UpdateTrafficBytes(context.get(), kAdamWRule), 2.0 + 3.0 * (2.0 + 2.0));
}

// Over eight data ranks. Only padding, less than a line of each shard, is more than the formula.
TEST(ModelStates, OfTheWorkerAreShardsAndWholeGradientsOfVectors) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8, "meshwright");
  const auto parameters = static_cast<double>(Parameters(context.model));
  const auto vectors = static_cast<double>((2 * context.model.layers() + 1) * context.model.hidden);
  const auto states = [&context](const char* layout) {
    return static_cast<double>(
        StateBytes(EstimateRankMemory(context.get(), MakeLayout(layout), 0)));
  };
  const double line = kShardAlignmentBytes / 2.0;  // elements
  const double padding = 8.0 * line * 18.0 * static_cast<double>(context.model.layers() + 3);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero0"), 18.0 * parameters, 0.5);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero1"), (6.0 + 12.0 / 8) * parameters, padding);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero2"), (2.0 + 16.0 / 8) * parameters + 4.0 * vectors, padding);
  EXPECT_NEAR(states("tp1.pp1.dp8.zero3"), 18.0 / 8 * parameters + 4.0 * vectors, padding);
}

TEST(ModelStates, OfTheWorkerArePaddedToAlignedShards) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8, "meshwright");
  context.model.vocab = 32001;
  context.model.hidden = 4090;
  context.training.precision = Precision::kFp32;
  const auto units = [&](int64_t ranks) {
    const auto padded = [&](int64_t elements) {
      const int64_t aligned = 32 * ranks;  // 128 bytes of each rank
      return (elements + aligned - 1) / aligned * aligned;
    };
    const int64_t layer = BlockParameters(context.model, context.model.groups.front());
    return 2 * padded(EmbeddingParameters(context.model)) + context.model.layers() * padded(layer) +
           padded(context.model.hidden);
  };
  const MemoryEstimate memory =
      EstimateRankMemory(context.get(), MakeLayout("tp1.pp1.dp4.zero1"), 0);
  EXPECT_EQ(memory.weights_bytes, 4 * units(4));
  EXPECT_EQ(memory.gradients_bytes, 4 * units(4));
  EXPECT_EQ(memory.optimizer_bytes, 8 * units(4) / 4);
}

// Bytes per parameter over eight data ranks, whose profiles say what they keep of them.
double StatesPerParameter(const char* profile, const char* layout) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8, profile);
  return static_cast<double>(StateBytes(EstimateRankMemory(context.get(), MakeLayout(layout), 0))) /
         static_cast<double>(Parameters(context.model));
}

TEST(ModelStates, OfTheFrameworksAreThePublishedOnes) {
  // Megatron-LM with fp32 main gradients.
  EXPECT_NEAR(StatesPerParameter("megatron", "tp1.pp1.dp8.zero1"), 6.0 + 12.0 / 8, 1e-6);
  // Aleph Alpha scaling: bf16 gradients.
  EXPECT_NEAR(StatesPerParameter("aleph-alpha-scaling", "tp1.pp1.dp8.zero1"), 4.0 + 12.0 / 8, 1e-6);
  // nanotron: a bf16 gradient beside the fp32 one, and a bf16 shard beside the states.
  EXPECT_NEAR(StatesPerParameter("nanotron", "tp1.pp1.dp8.zero0"), 20.0, 1e-6);
  EXPECT_NEAR(StatesPerParameter("nanotron", "tp1.pp1.dp8.zero1"), 8.0 + 14.0 / 8, 1e-6);
  // DeepSpeed and PyTorch FSDP, whose fp32 parameters need no bf16 shard.
  EXPECT_NEAR(StatesPerParameter("megatron-deepspeed", "tp1.pp1.dp8.zero3"), 18.0 / 8, 1e-6);
  EXPECT_NEAR(StatesPerParameter("torchtitan-fsdp", "tp1.pp1.dp8.zero3"), 16.0 / 8, 1e-6);
  EXPECT_NEAR(StatesPerParameter("llm-foundry-fsdp", "tp1.pp1.dp8.zero3"), 16.0 / 8, 1e-6);
}

// A profile of bf16 states says what a run is that says nothing; other formats take their place.
TEST(ModelStates, OfBf16AloneGiveWayToThoseThatARunSays) {
  EXPECT_NEAR(StatesPerParameter("automodel", "tp1.pp1.dp8.zero3"), 8.0 / 8, 1e-6);
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8, "automodel");
  const auto bytes = [&context](const char* states, const char* layout) {
    EXPECT_TRUE(run_option::ReadStates(states, context.training.options).ok()) << states;
    const Layout made = MakeLayout(layout);
    return static_cast<double>(StateBytes(EstimateRankMemory(context.get(), made, 0))) /
           static_cast<double>(Parameters(context.model));
  };
  EXPECT_NEAR(bytes("bf16", "tp1.pp1.dp8.zero3"), 8.0 / 8, 1e-6);
  EXPECT_NEAR(bytes("bf16", "tp1.pp1.dp1.zero0"), 8.0, 1e-6);
  EXPECT_NEAR(bytes("master=fp32,grad=bf16,m=fp32,v=fp32", "tp1.pp1.dp8.zero3"), 16.0 / 8, 1e-6);
  context.training.options = {};
  context.training.precision = Precision::kFp32;
  const Layout fsdp = MakeLayout("tp1.pp1.dp8.zero3");
  EXPECT_NEAR(static_cast<double>(StateBytes(EstimateRankMemory(context.get(), fsdp, 0))),
              16.0 / 8 * static_cast<double>(Parameters(context.model)), 64.0);
}

TEST(ModelStates, OfAllRanksAddUpToTheModel) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  int64_t held = 0;
  for (int32_t rank = 0; rank < 4; ++rank)
    held += 2 * PlannedLayout(context.get(), layout).ParametersOnRank(rank).all;
  // Norms are on both TP ranks.
  EXPECT_EQ(held, Parameters(context.model) + int64_t{2 * 32 + 1} * 4096);
}

TEST(ModelStates, CopyTiedEmbeddingsToBothEndsOfThePipeline) {
  const TestContext context = MakeContext("llama-3.2-1b", "h100", 4096, 8);
  const auto held = [&context](const char* text, int32_t rank) {
    const Layout layout = MakeLayout(text);
    return PlannedLayout(context.get(), layout).ParametersOnRank(rank).all;
  };
  EXPECT_EQ(held("tp1.pp1.dp1", 0), Parameters(context.model));
  EXPECT_EQ(held("tp1.pp2.dp1", 0) + held("tp1.pp2.dp1", 1),
            Parameters(context.model) + EmbeddingParameters(context.model));
}

TEST(ModelStates, InFp32NeedNoMasterCopy) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8);
  context.training.precision = Precision::kFp32;
  const MemoryEstimate memory = EstimateRankMemory(context.get(), MakeLayout("tp1.pp1.dp1"), 0);
  EXPECT_EQ(StateBytes(memory), 16 * Parameters(context.model));
}

TEST(ModelStates, InFp64AreTwiceThoseInFp32) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 8, "meshwright");
  context.training.precision = Precision::kFp64;
  const MemoryEstimate memory = EstimateRankMemory(context.get(), MakeLayout("tp1.pp1.dp1"), 0);
  EXPECT_EQ(memory.weights_bytes, 8 * Parameters(context.model));
  EXPECT_EQ(memory.gradients_bytes, 8 * Parameters(context.model));
  EXPECT_EQ(memory.optimizer_bytes, 16 * Parameters(context.model));
}

// Eight of sixteen ranks divide what sixteen did, experts and all others alike.
TEST(ModelStates, OfExpertsAreDividedInsideTheGroupsOfHsdp) {
  const TestContext context = MakeContext("mixtral-8x7b", "h100", 4096, 64, "torchtitan-fsdp");
  const auto weights_bytes = [&context](const char* layout) {
    return static_cast<double>(
        EstimateRankMemory(context.get(), MakeLayout(layout), 0).weights_bytes);
  };
  EXPECT_NEAR(
      weights_bytes("tp1.pp1.dp16.ep4.zero3.hs=8") / weights_bytes("tp1.pp1.dp16.ep4.zero3"), 2.0,
      1e-6);
}

}  // namespace
}  // namespace meshwright::planner
