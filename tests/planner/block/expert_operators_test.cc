#include "planner/block/expert_operators.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/parameters.h"
#include "planner/block/pass.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kExpertTokens = 256;
constexpr int64_t kExpertHidden = 64;
constexpr int64_t kWidth = 32;  // of an expert
constexpr int64_t kTopK = 2;
constexpr int64_t kRows = kExpertTokens * kTopK;

// Eight experts in place of the FFN.
BlockShape ExpertShape(int64_t ep = 1, int64_t etp = 1) {
  return {.tokens = kExpertTokens,
          .hidden = kExpertHidden,
          .heads = 8,
          .kv_heads = 2,
          .head_dim = 8,
          .experts = {.count = 8, .top_k = kTopK},
          .expert_hidden = kWidth,
          .ep = ep,
          .etp = etp,
          .keys = kExpertTokens,
          .vocab = 512};
}

int64_t ExpertKept(const BlockShape& shape, KeptTensor tensor) {
  return KeptBytes(BlockOperators(shape), tensor);
}

const Operator& Of(const OperatorList& operators, OperatorName name) {
  return *Find(operators, name);
}

// The most frequent error of planners: dividing what experts keep by ep.
TEST(ExpertOperators, KeepTopKTimesTheTokensWhateverEpIs) {
  for (const int64_t ep : {1, 2, 8}) {
    EXPECT_EQ(ExpertKept(ExpertShape(ep), KeptTensor::kExpertInput), 2 * kExpertHidden * kRows)
        << ep;
    EXPECT_EQ(ExpertKept(ExpertShape(ep), KeptTensor::kExpertGate), 2 * kWidth * kRows) << ep;
    EXPECT_EQ(ExpertKept(ExpertShape(ep), KeptTensor::kExpertUp), 2 * kWidth * kRows) << ep;
    EXPECT_EQ(ExpertKept(ExpertShape(ep), KeptTensor::kExpertProduct), 2 * kWidth * kRows) << ep;
  }
}

TEST(ExpertOperators, ExpertTensorParallelGathersRowsAndDividesWidths) {
  EXPECT_EQ(ExpertKept(ExpertShape(2, 2), KeptTensor::kExpertInput),
            int64_t{2} * 2 * kExpertHidden * kRows);
  EXPECT_EQ(ExpertKept(ExpertShape(2, 2), KeptTensor::kExpertGate), 2 * kWidth * kRows);
}

TEST(ExpertOperators, SequenceParallelRoutesTheRanksOwnTokens) {
  BlockShape shape = ExpertShape(2);
  shape.tp = 2;
  shape.sequence_parallel = true;
  EXPECT_EQ(ExpertKept(shape, KeptTensor::kExpertInput), 2 * kExpertHidden * kRows / 2);
  EXPECT_EQ(ExpertKept(shape, KeptTensor::kRouterScores), int64_t{2} * 4 * 8 * kExpertTokens / 2);
}

TEST(ExpertOperators, TheFullestRankKeepsByItsLoad) {
  BlockShape shape = ExpertShape(8);
  shape.expert_load = 1.5;
  EXPECT_EQ(ExpertKept(shape, KeptTensor::kExpertInput),
            3 * ExpertKept(ExpertShape(8), KeptTensor::kExpertInput) / 2);
  EXPECT_EQ(ExpertKept(shape, KeptTensor::kRouterScores),
            ExpertKept(ExpertShape(8), KeptTensor::kRouterScores));
}

// Where nothing fuses biases with the activation; experts without biases never pay for it.
TEST(ExpertOperators, AnActivationBehindBiasesStreamsWhatTheFrameworkSays) {
  BlockShape shape = ExpertShape(8);
  const auto activation = [&shape] {
    return Of(BlockOperators(shape), OperatorName::kExpertActivation).stream;
  };
  const StreamShape fused = activation();
  shape.expert_bias_traffic_bytes = 150.0;
  EXPECT_EQ(activation().traffic_bytes, fused.traffic_bytes);
  shape.ffn_bias = true;
  EXPECT_EQ(activation().elements, kWidth * kRows);
  EXPECT_EQ(activation().traffic_bytes, (std::array<double, 3>{150.0, 225.0, 0.0}));
  shape.expert_bias_traffic_bytes = 0.0;
  EXPECT_EQ(activation().traffic_bytes, fused.traffic_bytes);
}

TEST(ExpertOperators, ACapacityIsFilled) {
  BlockShape shape = ExpertShape(8);
  shape.experts.capacity_factor = 1.25;
  EXPECT_EQ(ExpertKept(shape, KeptTensor::kExpertInput),
            5 * ExpertKept(ExpertShape(8), KeptTensor::kExpertInput) / 4);
}

TEST(ExpertOperators, WeightsThatAreAppliedBehindKeepTheOutputs) {
  EXPECT_EQ(ExpertKept(ExpertShape(), KeptTensor::kExpertOutput), 0);
  BlockShape shape = ExpertShape();
  shape.keeps_expert_output = true;
  EXPECT_EQ(ExpertKept(shape, KeptTensor::kExpertOutput), 2 * kExpertHidden * kRows);
}

TEST(ExpertOperators, HoldEpthOfTheExpertsAndReduceThemAmongTheirCopies) {
  const UnitParameters whole = RankParameters(BlockOperators(ExpertShape()));
  EXPECT_EQ(whole.experts, int64_t{8} * 3 * kExpertHidden * kWidth);
  EXPECT_EQ(RankParameters(BlockOperators(ExpertShape(4))).experts, whole.experts / 4);
  const UnitParameters both = RankParameters(BlockOperators(ExpertShape(4, 2)));
  EXPECT_EQ(both.experts, whole.experts / 8);
  EXPECT_EQ(both.all - both.experts, whole.all - whole.experts);  // with the router
}

TEST(ExpertOperators, SendRowsThereAndBackInBothDirections) {
  const OperatorList operators = BlockOperators(ExpertShape(4));
  int exchanges = 0;
  for (const Operator& op : operators) {
    for (const PassKind pass : kPasses) {
      for (const OperatorCollective& collective : op.pass(pass).collectives) {
        EXPECT_EQ(collective.kind, CollectiveKind::kAllToAll);
        EXPECT_EQ(collective.group, GroupRole::kExperts);
        EXPECT_EQ(collective.bytes, 2 * kExpertHidden * kRows);
        ++exchanges;
      }
    }
  }
  EXPECT_EQ(exchanges, 4);
}

TEST(ExpertOperators, MultiplyTheRowsThatComeWithEachExpertsOwnMatrix) {
  const OperatorList operators = BlockOperators(ExpertShape(4));
  const Operator& up = Of(operators, OperatorName::kExpertGateUpProjection);
  EXPECT_EQ(up.matmul.rows, kRows);
  EXPECT_EQ(up.matmul.groups, 2);
  const PassWork work = ProductWork(ProductOf(up, PassKind::kForward), 2);
  EXPECT_DOUBLE_EQ(work.flops, 2.0 * kRows * kExpertHidden * 2 * kWidth);
  EXPECT_DOUBLE_EQ(work.bytes, 2.0 * (kRows * kExpertHidden + 2 * kExpertHidden * 2 * kWidth +
                                      kRows * 2 * kWidth));
  const MatmulShape gradient = ProductOf(up, PassKind::kWeightGradient);
  EXPECT_TRUE(gradient.shares_inputs);
  EXPECT_DOUBLE_EQ(ProductWork(gradient, 2).flops, work.flops);
  EXPECT_DOUBLE_EQ(ProductWork(gradient, 2).bytes, work.bytes);
}

TEST(ExpertOperators, StandBesideAnFfnThatEveryTokenPasses) {
  BlockShape shape = ExpertShape(4);
  EXPECT_EQ(Find(BlockOperators(shape), OperatorName::kGateUpProjection), nullptr);
  shape.ffn_hidden = 48;
  const OperatorList operators = BlockOperators(shape);
  ASSERT_NE(Find(operators, OperatorName::kGateUpProjection), nullptr);
  // Both read the same norm's output, which is kept once.
  EXPECT_EQ(ExpertKept(shape, KeptTensor::kFfnNormOutput), 2 * kExpertHidden * kExpertTokens);
}

TEST(ExpertOperators, BiasesOfExpertsAreDividedLikeThem) {
  BlockShape shape = ExpertShape(4);
  const int64_t without = RankParameters(BlockOperators(shape)).experts;
  shape.ffn_bias = true;
  shape.experts.router_bias = true;
  const UnitParameters with = RankParameters(BlockOperators(shape));
  EXPECT_EQ(with.experts, without + 2 * (2 * kWidth + kExpertHidden));
  EXPECT_EQ(with.expert_vectors, 2 * (2 * kWidth + kExpertHidden));
}

TEST(ExpertOperators, TheirTensorParallelDividesBiasesButForThatOfSums) {
  BlockShape shape = ExpertShape(4, 2);
  shape.ffn_bias = true;
  EXPECT_EQ(RankParameters(BlockOperators(shape)).expert_vectors, 2 * (kWidth + kExpertHidden));
}

}  // namespace
}  // namespace meshwright::planner
