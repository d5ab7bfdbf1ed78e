#include "executor/worker/state/parameter_map.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "planner/block/parameters.h"
#include "tests/executor/test_models.h"

namespace meshwright::worker {
namespace {

// How often each element of each parameter is held, over all ranks of a TP group and all stages.
using Coverage = std::map<std::string, std::vector<int32_t>>;

void Count(const ParameterUnit& unit, Coverage& coverage) {
  for (const LocalParameter& parameter : unit) {
    for (const ParameterPart& part : parameter.parts) {
      std::vector<int32_t>& held = coverage[part.name];
      held.resize(static_cast<size_t>(part.global_rows * part.global_columns));
      for (int64_t row = part.row_begin; row < part.row_begin + part.rows; ++row) {
        for (int64_t column = 0; column < part.columns; ++column) {
          ++held[row * part.global_columns + part.column_begin + column];
        }
      }
    }
  }
}

TEST(ParameterMapTest, TensorParallelRanksDivideMatricesAndRepeatNorms) {
  planner::ModelSpec model = trial::TinyModel();
  model.groups.front().attention.qkv_bias = true;
  model.groups.front().attention.qk_norm = true;
  Coverage coverage;
  for (int32_t tp_rank = 0; tp_rank < 2; ++tp_rank) {
    Count(EmbeddingUnit(model, tp_rank, 2), coverage);
    for (int64_t layer = 0; layer < model.layers(); ++layer) {
      Count(LayerUnit(model, layer, tp_rank, 2), coverage);
    }
    Count(HeadUnit(model, tp_rank, 2), coverage);
    Count(FinalNormUnit(model), coverage);
  }
  int64_t elements = 0;
  for (const auto& [name, held] : coverage) {
    const int32_t expected = name.find("norm") != std::string::npos ? 2 : 1;
    for (const int32_t times : held) EXPECT_EQ(times, expected) << name;
    elements += static_cast<int64_t>(held.size());
  }
  EXPECT_EQ(elements, planner::Parameters(model));
}

TEST(ParameterMapTest, UnitsOfOneRankHoldAllParameters) {
  const planner::ModelSpec model = trial::TinyModel();
  int64_t elements = UnitElements(EmbeddingUnit(model, 0, 1)) +
                     UnitElements(HeadUnit(model, 0, 1)) + UnitElements(FinalNormUnit(model));
  for (int64_t layer = 0; layer < model.layers(); ++layer) {
    elements += UnitElements(LayerUnit(model, layer, 0, 1));
  }
  EXPECT_EQ(elements, planner::Parameters(model));
}

TEST(ParameterMapTest, MatricesComeFirstThenNormsThenBiases) {
  planner::ModelSpec model = trial::TinyModel();
  model.groups.front().attention.qkv_bias = true;
  const ParameterUnit unit = LayerUnit(model, 0, 1, 2);
  const auto rank = [](const LocalParameter& parameter) {
    return parameter.matrix ? 0 : parameter.replicated ? 1 : 2;
  };
  for (size_t i = 1; i < unit.size(); ++i) EXPECT_LE(rank(unit[i - 1]), rank(unit[i]));
  EXPECT_EQ(ReplicatedElements(unit), 2 * model.hidden);
  const int64_t biases = (model.groups.front().attention.query_width() +
                          2 * model.groups.front().attention.key_width()) /
                         2;
  EXPECT_EQ(UnitElements(unit), MatrixElements(unit) + ReplicatedElements(unit) + biases);
}

TEST(ParameterMapTest, NormsOfHeadsAreTheLastOfNorms) {
  planner::ModelSpec model = trial::TinyModel();
  model.groups.front().attention.qkv_bias = true;
  model.groups.front().attention.qk_norm = true;
  const ParameterUnit unit = LayerUnit(model, 0, 1, 2);
  const VectorPositions heads = VectorsOf(unit, planner::OperatorName::kHeadNorm);
  const VectorPositions qkv = VectorsOf(unit, planner::OperatorName::kQkvProjection);
  EXPECT_EQ(unit[heads.weight].parts[0].name, "layers.0.q_norm");
  EXPECT_EQ(unit[heads.weight + 1].parts[0].name, "layers.0.k_norm");
  EXPECT_EQ(unit[qkv.bias].parts[0].name, "layers.0.q_bias");
  EXPECT_EQ(HeadNormElements(unit), 2 * model.groups.front().attention.head_dim);
  EXPECT_EQ(PartialElements(unit), 2 * model.hidden + 2 * model.groups.front().attention.head_dim);
  EXPECT_EQ(ReplicatedElements(unit), PartialElements(unit));
  EXPECT_FALSE(unit[VectorsOf(unit, planner::OperatorName::kFfnNorm).weight].of_heads);
  EXPECT_TRUE(unit[heads.weight].of_heads && unit[heads.weight].replicated);
}

// Those behind row parallel products stand between the norms and the biases that ranks divide.
TEST(ParameterMapTest, BiasesOfSumsAreHeldWhole) {
  planner::ModelSpec model = trial::TinyModel();
  model.norm = planner::StreamNorm::kLayer;
  planner::LayerGroup& group = model.groups.front();
  group.attention.qkv_bias = group.attention.output_bias = group.ffn.bias = true;
  const ParameterUnit unit = LayerUnit(model, 0, 1, 2);
  std::vector<std::string> names;
  for (const LocalParameter& parameter : unit) {
    if (!parameter.matrix) names.push_back(parameter.parts[0].name);
    EXPECT_EQ(parameter.parts[0].initial, parameter.matrix ? Initial::kNormal
                                          : parameter.bias ? Initial::kZeros
                                                           : Initial::kOnes);
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "layers.0.attention_norm", "layers.0.attention_norm_bias",
                       "layers.0.ffn_norm", "layers.0.ffn_norm_bias", "layers.0.o_bias",
                       "layers.0.down_bias", "layers.0.q_bias", "layers.0.gate_bias"}));
  EXPECT_EQ(PartialElements(unit), 4 * model.hidden);
  EXPECT_EQ(ReplicatedElements(unit), 6 * model.hidden);
  EXPECT_EQ(VectorsOf(unit, planner::OperatorName::kDownProjection).weight, kNowhere);
}

TEST(ParameterMapTest, SinksAreDividedLikeHeads) {
  planner::ModelSpec model = trial::TinyModel();
  model.groups.front().attention.sinks = true;
  const ParameterUnit unit = LayerUnit(model, 0, 1, 2);
  const VectorPositions positions = VectorsOf(unit, planner::OperatorName::kAttention);
  const LocalParameter& sinks = unit[positions.weight];
  EXPECT_EQ(sinks.parts[0].name, "layers.0.sinks");
  EXPECT_EQ(sinks.parts[0].row_begin, 2);
  EXPECT_EQ(sinks.elements(), 2);
  EXPECT_FALSE(sinks.replicated || sinks.partial_gradient || sinks.matrix);
  EXPECT_EQ(positions.bias, kNowhere);
}

// That of down is whole on every rank of the experts' tensor parallel, and stands before the
// others.
TEST(ParameterMapTest, BiasesOfExpertsStandBehindTheirMatrices) {
  planner::ModelSpec model = trial::TinyModel();
  planner::Ffn& ffn = model.groups.front().ffn;
  ffn.experts = {.count = 4, .top_k = 2};
  ffn.bias = true;
  const ParameterUnit unit = ExpertUnit(model, 0, {.ep_rank = 1, .ep = 2, .etp_rank = 1, .etp = 2});
  std::vector<std::string> names;
  for (const LocalParameter& parameter : unit) {
    EXPECT_TRUE(parameter.of_experts);
    for (const ParameterPart& part : parameter.parts) names.push_back(part.name);
  }
  using Names = std::vector<std::string>;
  const std::string two = "layers.0.experts.2.expert_";
  const std::string three = "layers.0.experts.3.expert_";
  EXPECT_EQ(names, (Names{two + "gate", two + "up", three + "gate", three + "up", two + "down",
                          three + "down", two + "down_bias", three + "down_bias", two + "gate_bias",
                          two + "up_bias", three + "gate_bias", three + "up_bias"}));
  const VectorPositions gate_up = VectorsOf(unit, planner::OperatorName::kExpertGateUpProjection);
  const VectorPositions down = VectorsOf(unit, planner::OperatorName::kExpertDownProjection);
  EXPECT_TRUE(unit[down.bias].replicated);
  EXPECT_FALSE(unit[gate_up.bias].replicated);
  EXPECT_EQ(unit[gate_up.bias].parts[0].row_begin, ffn.hidden / 2);
  EXPECT_EQ(unit[down.bias].parts[0].row_begin, 0);
  EXPECT_EQ(ReplicatedElements(unit), 2 * model.hidden);
  EXPECT_EQ(UnitElements(unit), MatrixElements(unit) + 2 * model.hidden + 2 * ffn.hidden);
  EXPECT_EQ(BlockMatrixElements(unit), MatrixElements(unit));
}

TEST(ParameterMapTest, EveryPositionHoldsItsOperatorsParameters) {
  const planner::ModelSpec model = trial::TinyModel();
  const ParameterUnit unit = LayerUnit(model, 3, 0, 1);
  const auto names = [&](LayerParameter position) {
    std::vector<std::string> parts;
    for (const ParameterPart& part : unit[position].parts) parts.push_back(part.name);
    return parts;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(kQkvWeight), (Names{"layers.3.q", "layers.3.k", "layers.3.v"}));
  EXPECT_EQ(names(kOutputWeight), Names{"layers.3.o"});
  EXPECT_EQ(names(kGateUpWeight), (Names{"layers.3.gate", "layers.3.up"}));
  EXPECT_EQ(names(kDownWeight), Names{"layers.3.down"});
}

TEST(ParameterMapTest, TiedHeadIsLaidOutLikeTheEmbedding) {
  planner::ModelSpec model = trial::TinyModel();
  model.tied_embeddings = true;
  const ParameterUnit head = HeadUnit(model, 1, 2);
  const ParameterUnit embedding = EmbeddingUnit(model, 1, 2);
  EXPECT_EQ(UnitElements(head), UnitElements(embedding));
  EXPECT_EQ(head[kHeadWeight].parts[0].name, embedding[kEmbeddingTable].parts[0].name);
  EXPECT_EQ(head[kHeadWeight].parts[0].row_begin, embedding[kEmbeddingTable].parts[0].row_begin);
}

}  // namespace
}  // namespace meshwright::worker
