#include "planner/scaling/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/layout/layout_condition.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

class LimitsTest : public testing::Test {
 protected:
  static const Limit& Of(const std::vector<Limit>& limits, LimitKind kind) {
    return limits[static_cast<size_t>(kind)];
  }

  const TestContext test_ = MakeContext("llama-2-13b", "h100", 4096, 96);
  SearchRequest request_ = MakeRequest(test_, 8);
};

TEST_F(LimitsTest, AreTheLastThatFit) {
  const auto limits = FindLimits(request_, std::nullopt).value();
  ASSERT_EQ(limits.size(), 3u);
  const auto fits = [](const SearchRequest& request) {
    const auto result = Search(request);
    return result.ok() && !result->layouts.empty();
  };
  const Limit& sequence = Of(limits, LimitKind::kSequence);
  EXPECT_EQ(sequence.asked, 4096);
  ASSERT_TRUE(sequence.largest.has_value());
  EXPECT_GT(*sequence.largest, 4096);
  EXPECT_EQ(*sequence.next, *sequence.largest + 1024);
  SearchRequest at = request_;
  at.training.seq_len = *sequence.largest;
  EXPECT_TRUE(fits(at));
  EXPECT_EQ(Search(at)->layouts.front(), *sequence.best);
  at.training.seq_len = *sequence.next;
  EXPECT_FALSE(fits(at));
  EXPECT_EQ(Search(at)->nearest_over_bytes, *sequence.over_bytes);

  const Limit& depth = Of(limits, LimitKind::kDepth);
  EXPECT_EQ(depth.asked, 40);
  EXPECT_EQ(*depth.next, *depth.largest + 8);
  at = request_;
  at.model = WithDepth(request_.model, *depth.largest);
  EXPECT_TRUE(fits(at));
  at.model = WithDepth(request_.model, *depth.next);
  EXPECT_FALSE(fits(at));

  const Limit& micro_batch = Of(limits, LimitKind::kMicroBatch);
  EXPECT_FALSE(micro_batch.asked.has_value());
  ASSERT_TRUE(micro_batch.largest.has_value());
  EXPECT_EQ(micro_batch.best->layout.micro_batch, *micro_batch.largest);
}

TEST_F(LimitsTest, OfOneLayoutAreItsOwn) {
  const Layout layout = MakeLayout("tp2.pp2.dp2.mb1.zero1.sp1");
  const auto limits = FindLimits(request_, layout).value();
  const auto bytes = [&](const SearchRequest& request, const Layout& one) {
    return CheckAndEstimate(request, one)->memory.total_bytes();
  };
  const int64_t allowed = AllowedBytes(request_);
  const Limit& micro_batch = Of(limits, LimitKind::kMicroBatch);
  EXPECT_EQ(micro_batch.asked, 1);
  Layout larger = layout;
  larger.micro_batch = static_cast<int32_t>(*micro_batch.largest);
  EXPECT_LE(bytes(request_, larger), allowed);
  larger.micro_batch = static_cast<int32_t>(*micro_batch.next);
  EXPECT_EQ(bytes(request_, larger) - allowed, *micro_batch.over_bytes);
  const Limit& depth = Of(limits, LimitKind::kDepth);
  SearchRequest at = request_;
  at.model = WithDepth(request_.model, *depth.largest);
  EXPECT_LE(bytes(at, layout), allowed);
  EXPECT_EQ(*depth.next, *depth.largest + 2);
  EXPECT_GT(depth.parameters, 0);
}

TEST_F(LimitsTest, LookBelowWhatIsAskedWhereThatDoesNotFit) {
  request_ = MakeRequest(MakeContext("llama-3-70b", "h100", 4096, 96), 8);
  const auto limits = FindLimits(request_, std::nullopt).value();
  const Limit& depth = Of(limits, LimitKind::kDepth);
  EXPECT_EQ(depth.asked, 80);
  ASSERT_TRUE(depth.largest.has_value());
  EXPECT_LT(*depth.largest, 80);
  EXPECT_GT(*depth.over_bytes, 0);
  EXPECT_FALSE(Of(limits, LimitKind::kSequence).largest.has_value());
}

TEST_F(LimitsTest, EndWhereTheModelHasNoMorePositions) {
  request_.model.positions = Positions::kLearned;
  request_.model.learned_positions = 4096;
  const auto limits = FindLimits(request_, std::nullopt).value();
  const Limit& sequence = Of(limits, LimitKind::kSequence);
  EXPECT_EQ(sequence.largest, 4096);
  EXPECT_FALSE(sequence.next.has_value());
  EXPECT_THAT(sequence.problem, HasSubstr("4096 positions"));
}

TEST_F(LimitsTest, SayWhyALayoutCantRun) {
  const auto limits = FindLimits(request_, MakeLayout("tp3.pp2.dp1")).value();
  for (const Limit& limit : limits) {
    EXPECT_FALSE(limit.largest.has_value());
    EXPECT_THAT(limit.problem, HasSubstr("tp3"));
  }
}

// What can't run between two values that can is no limit.
TEST_F(LimitsTest, SkipMicroBatchesThatDoNotDivide) {
  request_ = MakeRequest(MakeContext("llama-3-8b", "h100", 2048, 24), 8);
  request_.where = ParseLayoutCondition("where", "dp = 8").value();
  const auto limits = FindLimits(request_, std::nullopt).value();
  EXPECT_EQ(Of(limits, LimitKind::kMicroBatch).largest, 3);
}

TEST_F(LimitsTest, LookAtTheDepthThatIsAsked) {
  request_ = MakeRequest(MakeContext("llama-3-405b", "h100", 8192, 512), 448);
  request_.where = ParseLayoutCondition("where", "pp = 7").value();
  const auto limits = FindLimits(request_, std::nullopt).value();
  const Limit& depth = Of(limits, LimitKind::kDepth);
  EXPECT_EQ(depth.asked, 126);
  EXPECT_GE(depth.largest.value_or(0), 126);
}

TEST_F(LimitsTest, HoldForTheLayoutsOfACondition) {
  const auto any = FindLimits(request_, std::nullopt).value();
  request_.where = ParseLayoutCondition("where", "rc = none and cp = 1").value();
  const auto some = FindLimits(request_, std::nullopt).value();
  EXPECT_LT(*Of(some, LimitKind::kSequence).largest, *Of(any, LimitKind::kSequence).largest);
  EXPECT_EQ(Of(some, LimitKind::kSequence).best->layout.cp, 1);
}

TEST_F(LimitsTest, RefuseAProblemThatIsNone) {
  request_.training.seq_len = 0;
  EXPECT_EQ(FieldOf(FindLimits(request_, std::nullopt).status()), "seq_len");
  request_.training.seq_len = 4096;
  request_.max_oom_probability = -1.0;
  EXPECT_EQ(FieldOf(FindLimits(request_, MakeLayout("tp2.pp2.dp2")).status()),
            "max_oom_probability");
}

TEST(WithDepth, RepeatsTheLastPattern) {
  const ModelSpec dense = FindModel("llama-2-13b").value();
  EXPECT_EQ(WithDepth(dense, dense.layers()), dense);
  EXPECT_EQ(WithDepth(dense, 100).layers(), 100);
  EXPECT_EQ(WithDepth(dense, 100).groups.size(), 1u);
  EXPECT_EQ(WithDepth(dense, 7).layers(), 7);

  // Dense layers in front stay as many.
  const ModelSpec experts = FindModel("deepseek-v3").value();
  const ModelSpec deeper = WithDepth(experts, 100);
  ASSERT_EQ(deeper.groups.size(), experts.groups.size());
  EXPECT_EQ(deeper.groups.front(), experts.groups.front());
  EXPECT_EQ(deeper.layers(), 100);

  // One layer of every two has a window: what is added goes on in turns.
  const ModelSpec turns = FindModel("gpt-oss-20b").value();
  const ModelSpec longer = WithDepth(turns, turns.layers() + 2);
  const auto window = [&longer](int64_t layer) { return longer.GroupOf(layer).attention.window; };
  EXPECT_EQ(window(turns.layers()), window(0));
  EXPECT_EQ(window(turns.layers() + 1), window(1));
  EXPECT_NE(window(0), window(1));
}

// Gemma 3 ends in the midst of its pattern of six layers, after four local ones.
TEST(WithDepth, GoesOnWithAPatternThatTheModelLeftUnfinished) {
  const ModelSpec model = FindModel("gemma-3-4b").value();
  ASSERT_EQ(model.layers(), 34);
  const ModelSpec longer = WithDepth(model, 42);
  for (int64_t layer = 34; layer < 42; ++layer) {
    EXPECT_TRUE(longer.GroupOf(layer).SameShape(longer.GroupOf(layer - 6))) << layer;
  }
  EXPECT_FALSE(longer.GroupOf(35).SameShape(longer.GroupOf(34)));
}

// Nemotron 3's layers follow no short pattern.
TEST(WithDepth, RepeatsAllLayersWhereNoPatternIsShort) {
  const ModelSpec model = FindModel("nemotron-3-nano").value();
  const int64_t layers = model.layers();
  const ModelSpec longer = WithDepth(model, layers + 9);
  for (int64_t layer = 0; layer < 9; ++layer) {
    EXPECT_TRUE(longer.GroupOf(layers + layer).SameShape(model.GroupOf(layer))) << layer;
  }
}

TEST(FindLimits, TriesWholePatternsOfLayers) {
  const TestContext test = MakeContext("gemma-3-4b", "h100", 4096, 96);
  const auto limits = FindLimits(MakeRequest(test, 8), std::nullopt).value();
  const Limit& depth = limits[static_cast<size_t>(LimitKind::kDepth)];
  ASSERT_TRUE(depth.largest && depth.next);
  EXPECT_EQ((*depth.largest - 34) % 24, 0);
  EXPECT_EQ(*depth.next, *depth.largest + 24);
}

}  // namespace
}  // namespace meshwright::planner
