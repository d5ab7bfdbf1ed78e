#include "planner/block/trained_operators.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/matrices.h"
#include "planner/block/parameters.h"
#include "planner/block/pass.h"
#include "planner/block/tower_parameters.h"
#include "planner/block/workspace.h"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kTokens = 1024;

TrainedParts TrainedAs(std::string_view text) { return ParseTrainedParts(text).value(); }

BlockShape TrainedShape(std::string_view model_name, std::string_view text) {
  const ModelSpec model = FindModel(std::string(model_name)).value();
  const TrainedParts parts = TrainedAs(text);
  BlockShape shape = WholeShape(model, model.groups.back(), kTokens);
  shape.tokens = kTokens;
  shape.training = TrainingOf(parts, parts.OfLayer(0, /*has_towers=*/false));
  return shape;
}

OperatorList TrainedBlock(std::string_view model, std::string_view text) {
  return BlockOperators(TrainedShape(model, text));
}

int64_t TrainableOf(std::string_view model, std::string_view text) {
  return TrainableParameters(FindModel(std::string(model)).value(), TrainedAs(text));
}

// The counts that PEFT prints (print_trainable_parameters).
TEST(TrainableParameters, OfAdaptersAreThoseThatPeftCounts) {
  EXPECT_EQ(TrainableOf("llama-3-8b", "lora:16"), 41943040);
  EXPECT_EQ(TrainableOf("llama-3-8b", "lora:8:q_proj,v_proj"), 3407872);
  EXPECT_EQ(TrainableOf("llama-3-8b", "qlora:16"), 41943040);
  EXPECT_EQ(TrainableOf("llama-2-7b", "lora:8:q_proj,v_proj"), 4194304);
}

// A magnitude for each output: q, k, v, o, gate, up, down.
TEST(TrainableParameters, OfDoraHaveAMagnitudeForEachOutput) {
  EXPECT_EQ(TrainableOf("llama-3-8b", "dora:16"),
            41943040 + 32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096));
}

// Each of 8 experts of Mixtral has three matrices of 4096 x 14336.
TEST(TrainableParameters, OfExpertsAreAnAdapterForEach) {
  EXPECT_EQ(TrainableOf("mixtral-8x7b", "lora:4:experts"), 32 * 8 * 3 * 4 * (4096 + 14336));
  EXPECT_EQ(TrainableOf("mixtral-8x7b", "lora:4:all-linear"),
            32 * 4 * (2 * (4096 + 4096) + 2 * (4096 + 1024)));
}

TEST(TrainableParameters, OfFrozenPartsAreTheOthers) {
  const ModelSpec model = FindModel("llama-3-8b").value();
  const int64_t layer = BlockParameters(model, model.groups.front());
  EXPECT_EQ(TrainableParameters(model, {}), Parameters(model));
  EXPECT_EQ(TrainableParameters(model, TrainedAs("frozen:layers=0..9")),
            Parameters(model) - 10 * layer);
  EXPECT_EQ(TrainableParameters(model, TrainedAs("frozen:embedding")),
            Parameters(model) - EmbeddingParameters(model));
}

// The projector trains on: PARAMETERS.tsv has 419,816,304 for all of the tower.
TEST(TrainableParameters, OfAFrozenTowerAreTheProjectorsAmongOthers) {
  const ModelSpec model = FindModel("gemma-3-4b").value();
  const int64_t frozen = Parameters(model) - TrainableParameters(model, TrainedAs("frozen:tower"));
  EXPECT_EQ(TowerParameters(model) - frozen, 1152 * 2560);
}

TEST(TrainableParameters, OfATiedEmbeddingAreFrozenAtBothEnds) {
  const ModelSpec model = FindModel("llama-3.2-1b").value();
  ASSERT_TRUE(model.tied_embeddings);
  EXPECT_EQ(TrainableParameters(model, TrainedAs("frozen:embedding")),
            Parameters(model) - EmbeddingParameters(model));
}

// 2 r (in + out) a token for each pass of each adapter, and no gradients of the products' weights.
TEST(TrainedOperators, AFrozenProductHasNoGradientOfItsWeights) {
  const OperatorList full = TrainedBlock("llama-3-8b", "full");
  const OperatorList lora = TrainedBlock("llama-3-8b", "lora:16");
  const double adapters = 2.0 * kTokens * 41943040.0 / 32.0;
  for (const PassKind pass : {PassKind::kForward, PassKind::kInputGradient}) {
    EXPECT_DOUBLE_EQ(WorkOf(lora, pass).flops, WorkOf(full, pass).flops + adapters);
  }
  EXPECT_DOUBLE_EQ(WorkOf(lora, PassKind::kWeightGradient).flops, adapters);
}

TEST(TrainedOperators, AnAdaptedLayerKeepsWhatItsAdaptersRead) {
  const auto kept = [](std::string_view text) {
    return KeptBytes(TrainedBlock("llama-3-8b", text));
  };
  // x A of seven adapters of rank 16.
  EXPECT_EQ(kept("lora:16"), kept("full") + 2 * kTokens * 16 * 7);
  // Neither the FFN's norm output nor the down projection's input has a reader.
  EXPECT_EQ(kept("lora:16:q_proj"), kept("full") + 2 * kTokens * 16 - 2 * kTokens * (4096 + 14336));
  // Flash attention reads its output; no product reads the norms' outputs.
  EXPECT_EQ(kept("frozen:layers=0..31"), kept("full") - 2 * kTokens * (2 * 4096 + 14336));
}

TEST(TrainedOperators, WithoutABackwardNothingIsKept) {
  const OperatorList block = TrainedBlock("llama-3-8b", "frozen:embedding,layers=0..31");
  EXPECT_EQ(KeptBytes(block), 0);
  EXPECT_EQ(WorkOf(block, PassKind::kInputGradient).flops, 0.0);
  EXPECT_EQ(WorkOf(block, PassKind::kInputGradient).bytes, 0.0);
  EXPECT_EQ(WorkOf(block, PassKind::kWeightGradient).bytes, 0.0);
  const OperatorList full = TrainedBlock("llama-3-8b", "full");
  EXPECT_EQ(WorkOf(block, PassKind::kForward).flops, WorkOf(full, PassKind::kForward).flops);
}

// A ReLU keeps its product alone, for its own backward.
TEST(TrainedOperators, AFrozenReluKeepsItsProduct) {
  BlockShape shape = TrainedShape("llama-3-8b", "frozen:layers=0..31");
  shape.ffn = FfnKind::kRelu;
  EXPECT_EQ(KeptBytes(BlockOperators(shape), KeptTensor::kFfnProduct), 2 * kTokens * 14336);
}

const OperatorParameter* ParameterOf(const OperatorList& block, OperatorName product,
                                     std::string_view name) {
  for (const Operator& op : block) {
    if (op.name != product) continue;
    for (const OperatorParameter& parameter : op.parameters) {
      if (parameter.name == name) return &parameter;
    }
  }
  return nullptr;
}

TEST(TrainedOperators, TensorParallelismDividesTheSideThatItDividesOfTheProduct) {
  BlockShape shape = TrainedShape("llama-3-8b", "lora:16:q_proj,o_proj");
  shape.tp = 4;
  const OperatorList block = BlockOperators(shape);
  const auto* q_down = ParameterOf(block, OperatorName::kQkvProjection, "adapter_down");
  const auto* q_up = ParameterOf(block, OperatorName::kQkvProjection, "adapter_up");
  const auto* o_down = ParameterOf(block, OperatorName::kOutputProjection, "adapter_down");
  const auto* o_up = ParameterOf(block, OperatorName::kOutputProjection, "adapter_up");
  EXPECT_EQ(q_down->rank_elements(), 16 * 4096);
  EXPECT_EQ(q_up->rank_elements(), 16 * 4096 / 4);
  EXPECT_EQ(o_down->rank_elements(), 16 * 4096 / 4);
  EXPECT_EQ(o_up->rank_elements(), 16 * 4096);
  EXPECT_EQ(q_down->division, Division::kWhole);
  EXPECT_EQ(o_down->division, Division::kColumns);
}

TEST(TrainedOperators, ExpertParallelismDividesTheAdaptersOfExperts) {
  BlockShape shape = TrainedShape("mixtral-8x7b", "lora:4:experts");
  shape.ep = 4;
  const UnitParameters parameters = RankParameters(BlockOperators(shape));
  EXPECT_EQ(parameters.trained_experts(), 2 * 3 * 4 * (4096 + 14336));
  EXPECT_EQ(parameters.trained(), parameters.trained_experts());
}

// Matrices of products alone: 4 bits each, 2.5 bytes of traffic in each pass, and a copy of the
// largest of them.
TEST(TrainedOperators, ABaseOfFourBitsIsWidenedForEachUse) {
  const OperatorList wide = TrainedBlock("llama-3-8b", "lora:16");
  const OperatorList narrow = TrainedBlock("llama-3-8b", "qlora:16");
  const double matrices = 2.0 * 4096 * 4096 + 2.0 * 1024 * 4096 + 3.0 * 14336 * 4096;
  EXPECT_EQ(RankParameters(narrow).four_bit, static_cast<int64_t>(matrices));
  EXPECT_EQ(RankParameters(wide).four_bit, 0);
  for (const PassKind pass : {PassKind::kForward, PassKind::kInputGradient}) {
    EXPECT_DOUBLE_EQ(WorkOf(narrow, pass).bytes - WorkOf(wide, pass).bytes, 2.5 * matrices);
  }
  const WorkspaceRates none;
  EXPECT_EQ(WorkspaceOf(narrow, none).working_bytes - WorkspaceOf(wide, none).working_bytes,
            2 * 14336 * 4096);
}

// Each forward takes the norms of W + BA: 2 r in out.
TEST(TrainedOperators, DoraTakesNormsInTheForward) {
  const OperatorList lora = TrainedBlock("llama-3-8b", "lora:16:o_proj");
  const OperatorList dora = TrainedBlock("llama-3-8b", "dora:16:o_proj");
  EXPECT_DOUBLE_EQ(WorkOf(dora, PassKind::kForward).flops - WorkOf(lora, PassKind::kForward).flops,
                   2.0 * 16 * 4096 * 4096);
  EXPECT_DOUBLE_EQ(WorkOf(dora, PassKind::kInputGradient).flops,
                   WorkOf(lora, PassKind::kInputGradient).flops);
}

TEST(TrainedOperators, AnOptimizerHasTheMatricesThatTrain) {
  EXPECT_EQ(MatricesOf(TrainedBlock("llama-3-8b", "lora:16")).list.size(), 14U);
  EXPECT_EQ(MatricesOf(TrainedBlock("llama-3-8b", "frozen:layers=0..31")).list.size(), 0U);
}

// Forward and input gradients of 2 N each, and 6 N of the adapters: 2/3 of full and a little more.
TEST(TrainedStepFlops, OfLoraAreTwoThirdsOfFull) {
  const ModelSpec model = FindModel("llama-3-8b").value();
  TrainingSpec training = {.seq_len = 2048, .global_batch = 8};
  const StepFlops full = StepFlopsOf(model, training);
  training.options.train = TrainedAs("lora:16");
  const StepFlops lora = StepFlopsOf(model, training);
  EXPECT_NEAR(lora.palm / full.palm, 2.0 / 3.0, 0.02);
  EXPECT_NEAR(lora.causal / full.causal, 2.0 / 3.0, 0.02);
  EXPECT_GT(lora.causal, full.causal * 2.0 / 3.0);
}

TEST(TrainedStepFlops, OfATowerThatIsFrozenAreThoseOfItsForward) {
  const Tower tower = FindModel("gemma-3-4b")->towers.front();
  const double projector = 3.0 * 2.0 * 256.0 * 1152.0 * 2560.0;
  const double patches = 2.0 * 4096.0 * 588.0 * 1152.0;
  const double trained = TowerFlops(tower, 256) - projector - 2.0 * patches;
  EXPECT_DOUBLE_EQ(TowerFlops(tower, 256, TrainedAs("frozen:tower")),
                   trained / 3.0 + patches + projector);
}

}  // namespace
}  // namespace meshwright::planner
