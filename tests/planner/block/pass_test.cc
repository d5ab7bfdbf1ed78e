#include "planner/block/pass.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/parameters.h"
#include "planner/block/recompute.h"
#include "planner/block/workspace.h"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

BlockShape PassLlama8b() {
  const ModelSpec model = FindModel("llama-3-8b").value();
  BlockShape shape = WholeShape(model, model.groups.front(), 8192);
  shape.tokens = 8192;
  return shape;
}

// 2 N per token each for products forward, their input's gradient and their weight's, and for
// attention half a square forward and a whole one backward.
TEST(PassWork, OfABlockIsSixFlopsPerParameterAndToken) {
  const ModelSpec model = FindModel("llama-3-8b").value();
  const OperatorList block = BlockOperators(PassLlama8b());
  const double products =
      2.0 * 8192.0 * static_cast<double>(ProjectionParameters(model, model.groups.front()));
  const double attention = 2.0 * 8192.0 * 8192.0 * 4096.0;
  EXPECT_DOUBLE_EQ(WorkOf(block, PassKind::kForward).flops, products + attention);
  EXPECT_DOUBLE_EQ(WorkOf(block, PassKind::kInputGradient).flops, products + 2.0 * attention);
  EXPECT_DOUBLE_EQ(WorkOf(block, PassKind::kWeightGradient).flops, products);
}

TEST(PassWork, OfAProductMovesEachOperandOnce) {
  const OperatorList block = BlockOperators(PassLlama8b());
  const Operator& down = *Find(block, OperatorName::kDownProjection);
  const double bytes = 2.0 * (8192.0 * 14336 + 14336.0 * 4096 + 8192.0 * 4096);
  for (const PassKind pass : kPasses) EXPECT_DOUBLE_EQ(WorkOf(down, pass).bytes, bytes);
}

TEST(PassWork, OfANormStreamsItsElements) {
  const OperatorList block = BlockOperators(PassLlama8b());
  const Operator& norm = *Find(block, OperatorName::kFfnNorm);
  EXPECT_DOUBLE_EQ(WorkOf(norm, PassKind::kForward).bytes, 4.0 * 8192 * 4096);
  EXPECT_DOUBLE_EQ(WorkOf(norm, PassKind::kInputGradient).bytes, 6.0 * 8192 * 4096);
  EXPECT_DOUBLE_EQ(WorkOf(norm, PassKind::kWeightGradient).bytes, 0.0);
}

TEST(PassWork, InFp32StreamsTwiceTheBytes) {
  BlockShape shape = PassLlama8b();
  const double half = WorkOf(BlockOperators(shape), PassKind::kForward).bytes;
  shape.element_bytes = 4;
  EXPECT_DOUBLE_EQ(WorkOf(BlockOperators(shape), PassKind::kForward).bytes, 2.0 * half);
}

// 20 bytes for each of 32 heads x 8192 queries x 8192 keys, half as much again backward.
TEST(PassWork, OfWrittenScoresMovesThem) {
  BlockShape shape = PassLlama8b();
  const auto bytes = [&](PassKind pass) { return WorkOf(BlockOperators(shape), pass).bytes; };
  const double forward = bytes(PassKind::kForward);
  const double backward = bytes(PassKind::kInputGradient);
  shape.score_traffic_bytes = 20.0;
  const double scores = 20.0 * 32 * 8192 * 8192;
  EXPECT_NEAR(bytes(PassKind::kForward) - forward, scores, 1e-9 * scores);
  EXPECT_NEAR(bytes(PassKind::kInputGradient) - backward, 1.5 * scores, 1e-9 * scores);
}

TEST(Recompute, RunsAgainWhatItsModeNames) {
  const auto again = [](Recompute recompute, bool selective_drops_operators) {
    BlockShape shape = PassLlama8b();
    shape.selective_drops_operators = selective_drops_operators;
    OperatorList block = BlockOperators(shape);
    Apply(PartsOf({.mode = recompute}, shape), block);
    int count = 0;
    for (const Operator& op : block) count += op.recomputed ? 1 : 0;
    return count;
  };
  EXPECT_EQ(again(Recompute::kNone, false), 0);
  EXPECT_EQ(again(Recompute::kSelective, false), 1);
  EXPECT_EQ(again(Recompute::kSelective, true), 3);
  EXPECT_EQ(again(Recompute::kFull, false), 11);
}

TEST(Recompute, ThatStopsEarlyLeavesOutWhatBackwardDoesNotRead) {
  BlockShape shape = PassLlama8b();
  shape.recompute_stops_early = true;
  OperatorList block = BlockOperators(shape);
  Apply(PartsOf({.mode = Recompute::kFull}, shape), block);
  for (const Operator& op : block) {
    EXPECT_EQ(op.recomputed, op.name < OperatorName::kDownProjection) << NameOf(op.name);
  }
}

// Keys are 1024 of 4096 + 1024 + 1024 columns, and up is half of gate and up.
TEST(Recompute, OfAlternateProductsIsAShareOfThoseThatMakeSeveralTensors) {
  BlockShape shape = PassLlama8b();
  shape.selective_alternates_products = true;
  OperatorList block = BlockOperators(shape);
  Apply(PartsOf({.mode = Recompute::kSelective}, shape), block);
  const auto share = [&block](OperatorName name) {
    const Operator* op = Find(block, name);
    return op->recomputed ? op->recomputed_share : 0.0;
  };
  EXPECT_DOUBLE_EQ(share(OperatorName::kQkvProjection), 1.0 / 6.0);
  EXPECT_DOUBLE_EQ(share(OperatorName::kAttention), 0.0);
  EXPECT_DOUBLE_EQ(share(OperatorName::kOutputProjection), 1.0);
  EXPECT_DOUBLE_EQ(share(OperatorName::kGateUpProjection), 0.5);
  EXPECT_DOUBLE_EQ(share(OperatorName::kDownProjection), 0.0);
}

// Four bytes of the hidden width and six of the inner one at work; with recompute all that the
// layer had dropped beside, of which scores count on their own.
TEST(Workspace, HoldsGradientsAtWorkAndWhatIsRecomputed) {
  BlockShape shape = PassLlama8b();
  shape.score_bytes = 2.0;
  const OperatorList block = BlockOperators(shape);
  const WorkspaceRates rates = {.hidden_bytes = 4.0, .ffn_bytes = 6.0, .score_bytes = 4.0};
  const Workspace plain = WorkspaceOf(block, rates);
  constexpr int64_t kScores = int64_t{32} * 8192 * 8192;
  EXPECT_EQ(plain.working_bytes, 8192 * (4 * 4096 + 6 * 14336));
  EXPECT_EQ(plain.score_bytes, 4 * kScores);
  OperatorList edited = block;
  Apply(PartsOf({.mode = Recompute::kFull}, shape), edited);
  const Workspace again = RecomputedBytes(KeptForBackward(block), KeptForBackward(edited));
  EXPECT_EQ(again.score_bytes, 2 * kScores);
  // A token: the second residual, two norm outputs, q, o, k, v, gate, up and product; statistics.
  EXPECT_EQ(again.working_bytes, 8192 * (2 * (5 * 4096 + 2 * 1024 + 3 * 14336) + 4 * (2 + 32)));
}

// Keys and values of 8 heads of 128 while the next ones arrive.
TEST(Workspace, HoldsTheRingsReceiveBuffers) {
  BlockShape shape = PassLlama8b();
  const OperatorList alone = BlockOperators(shape);
  shape.cp = 2;
  const OperatorList ring = BlockOperators(shape);
  EXPECT_EQ(WorkspaceOf(ring, {}).working_bytes - WorkspaceOf(alone, {}).working_bytes,
            2 * 2 * 8192 * 1024 * 2);
}

}  // namespace
}  // namespace meshwright::planner
