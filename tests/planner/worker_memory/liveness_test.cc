#include "planner/worker_memory/liveness.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/recompute.h"

namespace meshwright::planner {
namespace {

// 16 tokens, hidden 32, 4 heads over 2 key/value heads of 8, FFN 48, in fp32 over two TP ranks with
// sequence parallel.
WorkerShape LivenessShape() {
  return {.block = {.tokens = 16,
                    .hidden = 32,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_dim = 8,
                    .ffn_hidden = 48,
                    .element_bytes = 4,
                    .tp = 2,
                    .sequence_parallel = true,
                    .selective_drops_operators = true,
                    .keys = 16,
                    .vocab = 64}};
}

constexpr int64_t kLivenessHidden = int64_t{4} * 16 * 32;
constexpr int64_t kStream = kLivenessHidden / 2;
constexpr int64_t kDeviations = 4 * 16 / 2;
constexpr int64_t kProduct = int64_t{4} * 16 * 24;

class LivenessTest : public testing::Test {
 protected:
  Liveness Of(Recompute recompute) const {
    OperatorList kept = operators_;
    Apply(PartsOf({.mode = recompute}, shape_.block), kept);
    return Liveness(operators_, kept, shape_);
  }

  Liveness::Part All() const { return {.begin = 0, .end = operators_.size()}; }
  Liveness::Part Ffn() const {
    size_t begin = 0;
    while (operators_[begin].name != OperatorName::kFfnNorm) ++begin;
    return {.begin = begin, .end = operators_.size()};
  }

  const WorkerShape shape_ = LivenessShape();
  const OperatorList operators_ = BlockOperators(shape_.block);
};

TEST_F(LivenessTest, AForwardLeavesWhatIsSavedAndItsResult) {
  Liveness liveness = Of(Recompute::kNone);
  EXPECT_EQ(liveness.given_bytes(), kStream);
  liveness.Start(liveness.given_bytes());
  liveness.Forward(All());
  EXPECT_EQ(liveness.held_bytes(), KeptBytes(operators_) + kStream);
}

TEST_F(LivenessTest, AForwardUnderFullRecomputeLeavesItsInputAndItsResult) {
  Liveness liveness = Of(Recompute::kFull);
  liveness.Start(liveness.given_bytes());
  liveness.Forward(All());
  EXPECT_EQ(liveness.held_bytes(), 2 * kStream);
  EXPECT_FALSE(liveness.KeepsInputOf(Ffn()));
}

TEST_F(LivenessTest, RecomputeBringsBackAllThatIsSaved) {
  for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
    Liveness liveness = Of(recompute);
    OperatorList kept = operators_;
    Apply(PartsOf({.mode = recompute}, shape_.block), kept);
    liveness.Start(KeptBytes(kept));
    liveness.Recompute(All());
    EXPECT_EQ(liveness.held_bytes(), KeptBytes(operators_)) << RecomputeName(recompute);
  }
}

// The same shape with latent attention and, beside its FFN, experts on two ranks.
WorkerShape LatentExpertShape() {
  WorkerShape shape = LivenessShape();
  BlockShape& block = shape.block;
  block.kv_heads = 4;
  block.head_dim = 12;
  block.attention_kind = AttentionKind::kLatent;
  block.query_rank = 10;
  block.kv_rank = 6;
  block.rotary_dim = 4;
  block.value_dim = 8;
  block.keeps_assembled_keys = false;
  block.experts = {.count = 4, .top_k = 2, .shared_hidden = 48};
  block.expert_hidden = 24;
  block.routing_bytes = 0.0;
  block.ep = 2;
  return shape;
}

TEST(ModuleLiveness, RecomputeBringsBackAllThatIsSaved) {
  const WorkerShape shape = LatentExpertShape();
  const OperatorList operators = BlockOperators(shape.block);
  RecomputeModules some;
  for (const auto& [module, name] : kRecomputeModuleNames) {
    if (module == RecomputeModule::kCoreAttn) continue;  // there are no scores to free
    some.Add(module);
    for (const RecomputeModules& modules : {RecomputeModules{module}, some}) {
      OperatorList kept = operators;
      Apply(PartsOf({.mode = Recompute::kModules, .modules = modules}, shape.block), kept);
      Liveness liveness(operators, kept, shape);
      const Liveness::Part all = {.begin = 0, .end = operators.size()};
      liveness.Start(liveness.given_bytes());
      liveness.Forward(all);
      EXPECT_EQ(liveness.held_bytes(), KeptBytes(kept) + kStream) << name;
      liveness.Start(KeptBytes(kept));
      liveness.Recompute(all);
      EXPECT_EQ(liveness.held_bytes(), KeptBytes(operators)) << name;
    }
  }
}

TEST_F(LivenessTest, ABackwardLeavesTheGradientOfItsInput) {
  Liveness liveness = Of(Recompute::kNone);
  liveness.Start(KeptBytes(operators_) + kStream);
  int64_t gradient = liveness.Backward(Ffn(), {}, kStream);
  EXPECT_EQ(gradient, kStream);
  gradient = liveness.Backward({.begin = 0, .end = Ffn().begin}, {}, gradient);
  EXPECT_EQ(liveness.held_bytes(), gradient);
}

// Its two parts run one after the other: between them the gathered gradient takes the place of the
// residual and its deviations.
TEST_F(LivenessTest, TheInputPartOfABackwardLeavesWhatTheWeightPartReads) {
  Liveness liveness = Of(Recompute::kNone);
  const int64_t before = KeptBytes(operators_);
  liveness.Start(before + kStream);
  liveness.Backward(Ffn(), {.input = true, .weight = false}, kStream);
  EXPECT_EQ(liveness.held_bytes(), before + kLivenessHidden - kStream - kDeviations + kStream);
  const int64_t between = liveness.held_bytes() - kStream;
  liveness.Start(between);
  liveness.Backward(Ffn(), {.input = false, .weight = true}, 0);
  // The gradient, the normed input, gate, up and product are gone; the input was gathered again.
  EXPECT_EQ(liveness.held_bytes(), between - kLivenessHidden - kStream - 3 * kProduct);
  EXPECT_EQ(liveness.most_bytes(), between + kLivenessHidden);
}

}  // namespace
}  // namespace meshwright::planner
