#include "planner/block/block.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "planner/block/kept.h"
#include "planner/block/parameters.h"
#include "tests/planner/block/kept_tensor_names.h"

namespace meshwright::planner {
namespace {

// One sequence of 256 tokens through a small model with 8 query and 2 key/value heads.
BlockShape Shape(int64_t tp = 1, bool sequence_parallel = false) {
  return {.tokens = 256,
          .hidden = 64,
          .heads = 8,
          .kv_heads = 2,
          .head_dim = 16,
          .ffn_hidden = 96,
          .tp = tp,
          .sequence_parallel = sequence_parallel,
          .keys = 256,
          .vocab = 512};
}

constexpr int64_t kHiddenBytes = int64_t{256} * 64 * 2;

std::vector<std::string_view> Names(const OperatorList& operators) {
  std::vector<std::string_view> names;
  names.reserve(operators.size());
  for (const Operator& op : operators) names.push_back(NameOf(op.name));
  return names;
}

// Collectives as text, one "kind bytes" after the other.
std::string Collectives(const OperatorList& operators, OperatorName name, PassKind pass) {
  std::string text;
  const Operator* op = Find(operators, name);
  if (op == nullptr) return "absent";
  for (const OperatorCollective& collective : op->pass(pass).collectives) {
    text += std::string(CollectiveKindName(collective.kind)) + " " +
            std::to_string(collective.bytes) + (collective.behind_compute ? " behind;" : ";");
  }
  return text;
}

TEST(Block, RunsItsOperatorsInThisOrder) {
  EXPECT_EQ(Names(BlockOperators(Shape())),
            (std::vector<std::string_view>{"attention_norm", "qkv_projection", "rope", "attention",
                                           "output_projection", "attention_residual", "ffn_norm",
                                           "gate_up_projection", "ffn_activation",
                                           "down_projection", "ffn_residual"}));
}

TEST(Block, NormsHeadsAndCrossesTheTensorParallelGroupWhereThereIsOne) {
  BlockShape shape = Shape(2);
  shape.head_norm = true;
  EXPECT_EQ(
      Names(BlockOperators(shape)),
      (std::vector<std::string_view>{
          "attention_norm", "attention_enter", "qkv_projection", "head_norm", "rope", "attention",
          "output_projection", "attention_leave", "attention_residual", "ffn_norm", "ffn_enter",
          "gate_up_projection", "ffn_activation", "down_projection", "ffn_leave", "ffn_residual"}));
}

TEST(Ends, RunTheirOperatorsInThisOrder) {
  EXPECT_EQ(Names(EmbeddingOperators(Shape(2))),
            (std::vector<std::string_view>{"embedding", "embedding_leave"}));
  EXPECT_EQ(Names(HeadOperators(Shape(2))),
            (std::vector<std::string_view>{"final_norm", "head_enter", "head_projection",
                                           "cross_entropy"}));
}

// Two all-reduces each way.
TEST(Collectives, AreAllReducesWithoutSequenceParallel) {
  const OperatorList block = BlockOperators(Shape(2));
  const std::string all_reduce = "all_reduce " + std::to_string(kHiddenBytes) + ";";
  for (const OperatorName enter : {OperatorName::kAttentionEnter, OperatorName::kFfnEnter}) {
    EXPECT_EQ(Collectives(block, enter, PassKind::kForward), "");
    EXPECT_EQ(Collectives(block, enter, PassKind::kInputGradient), all_reduce);
    EXPECT_EQ(Collectives(block, enter, PassKind::kWeightGradient), "");
  }
  for (const OperatorName leave : {OperatorName::kAttentionLeave, OperatorName::kFfnLeave}) {
    EXPECT_EQ(Collectives(block, leave, PassKind::kForward), all_reduce);
    EXPECT_EQ(Collectives(block, leave, PassKind::kInputGradient), "");
  }
}

// Inputs are gathered again for the weight gradient, unless they were kept whole.
TEST(Collectives, GatherAndScatterTokensUnderSequenceParallel) {
  BlockShape shape = Shape(2, true);
  const std::string bytes = " " + std::to_string(kHiddenBytes);
  OperatorList block = BlockOperators(shape);
  EXPECT_EQ(Collectives(block, OperatorName::kFfnEnter, PassKind::kForward),
            "all_gather" + bytes + ";");
  EXPECT_EQ(Collectives(block, OperatorName::kFfnEnter, PassKind::kInputGradient),
            "reduce_scatter" + bytes + ";");
  EXPECT_EQ(Collectives(block, OperatorName::kFfnEnter, PassKind::kWeightGradient),
            "all_gather" + bytes + " behind;");
  EXPECT_EQ(Collectives(block, OperatorName::kFfnLeave, PassKind::kForward),
            "reduce_scatter" + bytes + ";");
  EXPECT_EQ(Collectives(block, OperatorName::kFfnLeave, PassKind::kInputGradient),
            "all_gather" + bytes + ";");
  shape.keeps_gathered_inputs = true;
  block = BlockOperators(shape);
  EXPECT_EQ(Collectives(block, OperatorName::kFfnEnter, PassKind::kWeightGradient), "");
}

// Keys and values of 2 heads of 16 each, and their gradients in 4 bytes.
TEST(Collectives, PassKeysAndValuesAroundTheContextParallelRing) {
  BlockShape shape = Shape();
  EXPECT_EQ(Collectives(BlockOperators(shape), OperatorName::kAttention, PassKind::kForward), "");
  shape.cp = 4;
  shape.ring_gradient_bytes = 4;
  const OperatorList block = BlockOperators(shape);
  EXPECT_EQ(Collectives(block, OperatorName::kAttention, PassKind::kForward), "send 32768;");
  EXPECT_EQ(Collectives(block, OperatorName::kAttention, PassKind::kInputGradient),
            "send 32768;send 65536;");
}

// Maximum, then sum and the target's logit, in fp32 per token; or all logits.
TEST(Collectives, OfTheLossAreStatisticsOrLogits) {
  BlockShape shape = Shape(2);
  EXPECT_EQ(Collectives(HeadOperators(shape), OperatorName::kCrossEntropy, PassKind::kForward),
            "all_reduce 1024;all_reduce 2048;");
  shape.vocab_parallel_loss = false;
  EXPECT_EQ(Collectives(HeadOperators(shape), OperatorName::kCrossEntropy, PassKind::kForward),
            "all_gather 262144;");
}

void ExpectRanksHoldAll(const OperatorList& operators, int64_t tp) {
  for (const Operator& op : operators) {
    for (const OperatorParameter& parameter : op.parameters) {
      const int64_t parts = parameter.division == Division::kWhole ? 1 : tp;
      EXPECT_EQ(parts * parameter.rank_elements(), parameter.elements()) << parameter.name;
      EXPECT_EQ(parameter.divided_over, GroupRole::kTensor) << parameter.name;
      EXPECT_EQ(parameter.reduced_over, GroupRole::kReplicas) << parameter.name;
    }
  }
}

TEST(OperatorParameters, OfAllTensorParallelRanksAreTheModels) {
  BlockShape shape = Shape(2);
  shape.qkv_bias = true;
  shape.head_norm = true;
  ExpectRanksHoldAll(BlockOperators(shape), 2);
  ExpectRanksHoldAll(EmbeddingOperators(shape), 2);
  ExpectRanksHoldAll(HeadOperators(shape), 2);
}

TEST(OperatorParameters, OfKeysAndValuesAreReplicatedBeyondTheirHeads) {
  const OperatorList block = BlockOperators(Shape(8));
  const Operator* qkv = Find(block, OperatorName::kQkvProjection);
  EXPECT_EQ(qkv->parameters[0].rank_rows, 16);
  EXPECT_EQ(qkv->parameters[1].rank_rows, 16);
  EXPECT_EQ(qkv->matmul.outputs, 48);
}

TEST(OperatorParameters, OfATiedHeadAreTheEmbeddings) {
  BlockShape shape = Shape();
  OperatorList head = HeadOperators(shape);
  EXPECT_EQ(Find(head, OperatorName::kHeadProjection)->parameters[0].name, "head");
  EXPECT_FALSE(Find(head, OperatorName::kHeadProjection)->parameters[0].shared);
  shape.tied_embeddings = true;
  head = HeadOperators(shape);
  EXPECT_EQ(Find(head, OperatorName::kHeadProjection)->parameters[0].name, "embedding");
  EXPECT_TRUE(Find(head, OperatorName::kHeadProjection)->parameters[0].shared);
}

// A product reads what it kept for its weight gradient; what input gradients alone need is gone
// before.
TEST(SavedTensors, AreFreedByAnOperatorOfTheList) {
  BlockShape shape = Shape(2, true);
  shape.head_norm = true;
  for (const OperatorList& operators :
       {BlockOperators(shape), EmbeddingOperators(shape), HeadOperators(shape)}) {
    for (const Operator& op : operators) {
      for (const SavedTensor& saved : op.saves) {
        const Operator* last = Find(operators, saved.freed_by);
        ASSERT_NE(last, nullptr) << KeptTensorName(saved.tensor);
        EXPECT_LE(last->name, op.name) << KeptTensorName(saved.tensor);
        EXPECT_EQ(saved.freed_in == PassKind::kWeightGradient,
                  last->kind == OperatorKind::kMatmul || last->kind == OperatorKind::kEmbedding)
            << KeptTensorName(saved.tensor);
      }
    }
  }
}

// The residual, the deviations and the log-sum-exp are gone between the gradients' passes.
TEST(SavedTensors, OfTheWeightGradientAreLessThanAll) {
  int64_t freed_bytes = 0;
  for (const Operator& op : BlockOperators(Shape())) {
    for (const SavedTensor& saved : op.saves) {
      if (saved.freed_in != PassKind::kWeightGradient) freed_bytes += saved.bytes;
    }
  }
  EXPECT_EQ(freed_bytes, 2 * kHiddenBytes + int64_t{2} * 256 * 4 + int64_t{256} * 8 * 4);
}

TEST(Operators, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  constexpr int kNames = static_cast<int>(OperatorName::kMtpProjection) + 1;
  for (int i = 0; i < kNames; ++i) names.insert(NameOf(static_cast<OperatorName>(i)));
  EXPECT_EQ(names.size(), kNames);
  EXPECT_FALSE(names.contains(""));
}

int64_t Kept(const BlockShape& shape, KeptTensor tensor) {
  return KeptBytes(BlockOperators(shape), tensor);
}

TEST(BlockArrangements, AParallelBlockLeavesOnceAndKeepsItsInputOnce) {
  BlockShape shape = Shape(2);
  shape.arrangement = Arrangement::kParallel;
  const OperatorList two_norms = BlockOperators(shape);
  EXPECT_EQ(Names(two_norms),
            (std::vector<std::string_view>{"attention_norm", "attention_enter", "qkv_projection",
                                           "rope", "attention", "output_projection", "ffn_norm",
                                           "ffn_enter", "gate_up_projection", "ffn_activation",
                                           "down_projection", "ffn_leave", "ffn_residual"}));
  EXPECT_EQ(KeptBytes(two_norms, KeptTensor::kAttentionResidual), kHiddenBytes);
  EXPECT_EQ(KeptBytes(two_norms, KeptTensor::kFfnResidual), 0);
  EXPECT_EQ(KeptBytes(two_norms, KeptTensor::kFfnNormOutput), kHiddenBytes);
  shape.arrangement = Arrangement::kParallelOneNorm;
  const OperatorList one_norm = BlockOperators(shape);
  EXPECT_EQ(Find(one_norm, OperatorName::kFfnNorm), nullptr);
  EXPECT_EQ(Find(one_norm, OperatorName::kFfnEnter), nullptr);
  EXPECT_EQ(KeptBytes(one_norm, KeptTensor::kAttentionNormOutput), kHiddenBytes);
  EXPECT_EQ(KeptBytes(one_norm, KeptTensor::kFfnNormOutput), 0);
}

TEST(BlockArrangements, NormsBehindReadWhatTheProjectionsMade) {
  BlockShape shape = Shape();
  shape.arrangement = Arrangement::kNormBehind;
  const OperatorList block = BlockOperators(shape);
  EXPECT_EQ(Names(block), (std::vector<std::string_view>{
                              "qkv_projection", "rope", "attention", "output_projection",
                              "attention_norm", "attention_residual", "gate_up_projection",
                              "ffn_activation", "down_projection", "ffn_norm", "ffn_residual"}));
  EXPECT_EQ(KeptBytes(block, KeptTensor::kAttentionResidual), kHiddenBytes);  // what QKV reads
  EXPECT_EQ(KeptBytes(block, KeptTensor::kAttentionNormInput), kHiddenBytes);
  EXPECT_EQ(KeptBytes(block, KeptTensor::kAttentionNormOutput), 0);
  EXPECT_EQ(KeptBytes(block), KeptBytes(BlockOperators(Shape())));
}

// Keeps the inputs of both norms behind, and a deviation for each.
TEST(BlockArrangements, ASandwichHasNormsOnBothSides) {
  BlockShape shape = Shape();
  shape.arrangement = Arrangement::kSandwich;
  const OperatorList block = BlockOperators(shape);
  const OperatorList sequential = BlockOperators(Shape());
  EXPECT_EQ(Names(block),
            (std::vector<std::string_view>{
                "attention_norm", "qkv_projection", "rope", "attention", "output_projection",
                "attention_post_norm", "attention_residual", "ffn_norm", "gate_up_projection",
                "ffn_activation", "down_projection", "ffn_post_norm", "ffn_residual"}));
  EXPECT_EQ(RankParameters(block).all, RankParameters(sequential).all + 2 * 64);
  EXPECT_EQ(KeptBytes(block), KeptBytes(sequential) + 2 * kHiddenBytes + 2 * 256 * 4);
}

TEST(BlockArrangements, ValuesMayBeNarrowerThanKeys) {
  BlockShape shape = Shape();
  shape.value_dim = 8;
  const OperatorList block = BlockOperators(shape);
  const OperatorList same = BlockOperators(Shape());
  // Two value heads of 8 elements less, and eight heads of the output.
  EXPECT_EQ(RankParameters(block).all, RankParameters(same).all - (2 * 8 + 8 * 8) * 64);
  EXPECT_EQ(KeptBytes(block, KeptTensor::kValue), KeptBytes(same, KeptTensor::kValue) / 2);
  EXPECT_EQ(KeptBytes(block, KeptTensor::kKey), KeptBytes(same, KeptTensor::kKey));
  EXPECT_EQ(Find(block, OperatorName::kAttention)->attention.value_head_dim(), 8);
}

TEST(BlockArrangements, AGateIsAThirdMatrixWhateverItsActivation) {
  BlockShape shape = Shape();
  const int64_t swiglu = RankParameters(BlockOperators(shape)).all;
  const auto with = [&](FfnKind kind) {
    shape.ffn = kind;
    return BlockOperators(shape);
  };
  EXPECT_EQ(RankParameters(with(FfnKind::kGeGlu)).all, swiglu);
  EXPECT_EQ(RankParameters(with(FfnKind::kReluSquared)).all, swiglu - 96 * 64);
  EXPECT_EQ(KeptBytes(with(FfnKind::kReluSquared)), KeptBytes(with(FfnKind::kGelu)));
  EXPECT_EQ(KeptBytes(with(FfnKind::kXielu)), KeptBytes(with(FfnKind::kGelu)));
}

TEST(BlockArrangements, LayerNormKeepsAMeanToo) {
  BlockShape shape = Shape();
  const int64_t rms = Kept(shape, KeptTensor::kAttentionNormRstd);
  shape.norm = StreamNorm::kLayer;
  EXPECT_EQ(Kept(shape, KeptTensor::kAttentionNormRstd), 2 * rms);
}

TEST(BlockArrangements, ReluKeepsItsResultAlone) {
  BlockShape shape = Shape();
  shape.ffn = FfnKind::kGelu;
  EXPECT_GT(Kept(shape, KeptTensor::kUp), 0);
  shape.ffn = FfnKind::kRelu;
  EXPECT_EQ(Kept(shape, KeptTensor::kUp), 0);
  EXPECT_GT(Kept(shape, KeptTensor::kFfnProduct), 0);
}

TEST(BlockArrangements, OnlyRotaryPositionsTurnHeads) {
  BlockShape shape = Shape();
  const int64_t whole = Find(BlockOperators(shape), OperatorName::kRope)->stream.elements;
  shape.rotary_share = 0.25;
  EXPECT_EQ(4 * Find(BlockOperators(shape), OperatorName::kRope)->stream.elements, whole);
  for (const Positions positions : {Positions::kLearned, Positions::kAlibi, Positions::kNone}) {
    shape.positions = positions;
    EXPECT_EQ(Find(BlockOperators(shape), OperatorName::kRope), nullptr);
  }
}

TEST(BlockArrangements, TensorParallelDividesBiasesOfColumnsAndNotOfRows) {
  BlockShape whole = Shape();
  whole.qkv_bias = whole.output_bias = whole.ffn_bias = true;
  BlockShape half = whole;
  half.tp = 2;
  const auto elements = [](const BlockShape& shape, OperatorName name) {
    return RankParameters(*Find(BlockOperators(shape), name)).vectors;
  };
  for (const OperatorName name : {OperatorName::kQkvProjection, OperatorName::kGateUpProjection}) {
    EXPECT_EQ(2 * elements(half, name), elements(whole, name));
  }
  for (const OperatorName name : {OperatorName::kOutputProjection, OperatorName::kDownProjection}) {
    EXPECT_EQ(elements(half, name), 64);
    EXPECT_EQ(elements(whole, name), 64);
  }
}

}  // namespace
}  // namespace meshwright::planner
