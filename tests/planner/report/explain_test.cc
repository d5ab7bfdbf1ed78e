#include "planner/report/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/codec/json_codec.h"
#include "planner/report/answer_fields.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Explained : public testing::Test {
 protected:
  RankedLayout Ranked(const char* layout) const {
    return {MakeLayout(layout), EstimateLayout(context_.get(), MakeLayout(layout))};
  }
  Explanation Of(const RankedLayout& ranked) const {
    return Explain(context_.get(), ranked, AllowedBytes(context_.cluster));
  }

  const TestContext context_ = MakeContext("llama-3-70b", "h100", 4096, 512);
};

TEST_F(Explained, StagesCoverEveryPipelineRankAndTheFullestIsTheEstimate) {
  const RankedLayout ranked = Ranked("tp8.pp4.dp2.mb1.zero1.sp1");
  const Explanation explanation = Of(ranked);
  ASSERT_EQ(explanation.stages.size(), 4u);
  int64_t most = 0;
  for (const StageMemory& stage : explanation.stages) {
    most = std::max(most, stage.memory.total_bytes());
  }
  EXPECT_EQ(most, ranked.estimate.memory.total_bytes());
  const StageMemory& fullest =
      explanation.stages[static_cast<size_t>(ranked.estimate.memory.pipeline_rank)];
  EXPECT_EQ(fullest.memory, ranked.estimate.memory);
  EXPECT_EQ(fullest.fraction_of_device, ranked.estimate.fraction_of_device);
}

TEST_F(Explained, ALayoutThatFitsNeedsNoChange) {
  const RankedLayout ranked = Ranked("tp8.pp4.dp2.mb1.zero1.sp1");
  const Explanation explanation = Of(ranked);
  EXPECT_EQ(explanation.neighbours.tried, 0);
  EXPECT_FALSE(explanation.neighbours.smallest.has_value());
  EXPECT_THAT(ChangeSentence(ranked, explanation), IsEmpty());
}

TEST_F(Explained, ALayoutThatDoesNotFitGetsTheSmallestChange) {
  const RankedLayout ranked = Ranked("tp4.pp4.dp4.mb2.zero1.sp1");
  const Explanation explanation = Of(ranked);
  ASSERT_TRUE(explanation.neighbours.smallest.has_value());
  EXPECT_LE(explanation.neighbours.smallest->estimate.memory.total_bytes(),
            AllowedBytes(context_.cluster));
  EXPECT_THAT(ChangeSentence(ranked, explanation),
              HasSubstr("Smallest change that fits: mb 2 -> 1."));
}

TEST_F(Explained, SaysSoWhereNoNeighbourFits) {
  const TestContext small = MakeContext("llama-3-405b", "a100-40", 4096, 8);
  const Layout layout = MakeLayout("tp8.pp1.dp1");
  const RankedLayout ranked{layout, EstimateLayout(small.get(), layout)};
  const Explanation explanation = Explain(small.get(), ranked, AllowedBytes(small.cluster));
  EXPECT_FALSE(explanation.neighbours.smallest.has_value());
  EXPECT_THAT(ChangeSentence(ranked, explanation),
              HasSubstr("None of the " + std::to_string(explanation.neighbours.tried)));
}

TEST(Binding, IsTheLargestPartAndNeverCompute) {
  Estimate estimate;
  estimate.memory.weights_bytes = 5;
  estimate.memory.loss_bytes = 7;
  estimate.time[TimePart::kCompute] = 10;
  estimate.time[TimePart::kBubble] = 2;
  estimate.time[TimePart::kDp] = 1;
  const Binding binding = BindingOf(estimate);
  EXPECT_EQ(PartName(binding.memory_part), "loss");
  EXPECT_EQ(binding.memory_bytes, 7);
  EXPECT_EQ(PartName(binding.time_part), "bubble");
  EXPECT_DOUBLE_EQ(binding.time_s, 2);
}

TEST(Binding, PartsAddUpToTheWhole) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const Estimate estimate =
      EstimateLayout(context.get(), MakeLayout("tp2.cp2.pp4.dp2.vpp4.zero1.sp1.rc=full"));
  int64_t bytes = 0;
  for (const MemoryPart part : kMemoryParts) bytes += PartBytes(estimate.memory, part);
  EXPECT_EQ(bytes, estimate.memory.total_bytes());
  double seconds = 0;
  for (const TimePart part : kTimeParts) seconds += estimate.time[part];
  EXPECT_NEAR(seconds, estimate.time.step_s(), 1e-9);
}

TEST(Sentences, NameASecondPartOnlyWhereItIsLarge) {
  Estimate estimate;
  estimate.memory.weights_bytes = int64_t{8} << 30;
  estimate.memory.gradients_bytes = int64_t{1} << 30;
  EXPECT_EQ(MemorySentence(estimate),
            "Pipeline rank 0 binds with 9.00 GiB: weights take 8.00 GiB (88.9 %).");
  estimate.memory.gradients_bytes = int64_t{8} << 30;
  EXPECT_THAT(MemorySentence(estimate), HasSubstr("and gradients take 8.00 GiB (50.0 %)"));
}

TEST(Sentences, SayWhatWouldShrinkEachPartOfTheStep) {
  for (const TimePart part : kTimeParts) {
    if (part == TimePart::kCompute) continue;
    RankedLayout ranked{MakeLayout("tp2.cp2.pp2.dp2.mb2.zero2.rc=full"), {}};
    TimeEstimate& time = ranked.estimate.time;
    time[TimePart::kCompute] = 4;
    time[part] = 1;
    EXPECT_EQ(BindingOf(ranked.estimate).time_part, part);
    EXPECT_THAT(TimeSentence(ranked), HasSubstr("1.00 s of 5.00 s (20.0 %); "));
    EXPECT_THAT(TimeSentence(ranked), Not(HasSubstr("; ."))) << PartName(part);
  }
}

TEST(Sentences, AStepOfComputeAloneHasNothingToShrink) {
  RankedLayout ranked;
  ranked.estimate.time[TimePart::kCompute] = 1;
  EXPECT_EQ(TimeSentence(ranked), "The step is all compute.");
}

TEST_F(Explained, JsonHasTheKeysOfTheContract) {
  const RankedLayout ranked = Ranked("tp4.pp4.dp4.mb2.zero1.sp1");
  const nlohmann::ordered_json object = WriteOrderedJson(ExplainedLayout{ranked, Of(ranked)});
  ASSERT_EQ(object["stages"].size(), 4u);
  EXPECT_EQ(object["stages"][3]["pipeline_rank"], 3);
  for (const char* key : {"memory_part", "memory_bytes", "time_part", "time_s", "sentence"}) {
    EXPECT_TRUE(object["binding"].contains(key)) << key;
  }
  for (const char* key : {"layout", "changes", "total_bytes", "step_s"}) {
    EXPECT_TRUE(object["smallest_change"].contains(key)) << key;
  }
  const RankedLayout fits = Ranked("tp8.pp4.dp2.mb1.zero1.sp1");
  EXPECT_TRUE(WriteOrderedJson(ExplainedLayout{fits, Of(fits)})["smallest_change"].is_null());
}

}  // namespace
}  // namespace meshwright::planner
