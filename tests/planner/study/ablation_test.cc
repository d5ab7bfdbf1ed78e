#include "planner/study/ablation.h"

#include <gtest/gtest.h>

#include "planner/layout/layout_condition.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

const Ablation& Named(const std::vector<Ablation>& ablations, std::string_view name) {
  for (const Ablation& ablation : ablations) {
    if (ablation.name == name) return ablation;
  }
  ADD_FAILURE() << "no ablation " << name;
  return ablations.front();
}

const Arm& ArmOf(const Ablation& ablation, std::string_view name) {
  for (const Arm& arm : ablation.arms) {
    if (arm.name == name) return arm;
  }
  ADD_FAILURE() << "no arm " << name;
  return ablation.arms.front();
}

double Best(const SearchRequest& request) {
  SearchRequest search = request;
  search.top = 1;
  return Search(search)->layouts.front().estimate.tokens_per_s;
}

class StudyTest : public testing::Test {
 protected:
  const TestContext test_ = MakeContext("llama-2-13b", "a100-80", 2048, 512);
  SearchRequest request_ = MakeRequest(test_, 64);
};

// The values of one choice are all of it, so that the fastest of them is the search's own.
TEST_F(StudyTest, TheFastestArmOfAChoiceIsTheSearchsFirst) {
  const auto ablations = Study(request_, 0.05).value();
  const double best = Best(request_);
  for (const char* name : {"micro_batch", "recompute", "kernels", "model_parallel"}) {
    double fastest = 0.0;
    for (const Arm& arm : Named(ablations, name).arms) {
      if (arm.best) fastest = std::max(fastest, arm.best->estimate.tokens_per_s);
    }
    EXPECT_EQ(fastest, best) << name;
  }
}

TEST_F(StudyTest, EachArmIsTheFastestOfItsLayouts) {
  const auto ablations = Study(request_, 0.05).value();
  const Arm& two = ArmOf(Named(ablations, "micro_batch"), "micro-batch 2");
  ASSERT_TRUE(two.best.has_value());
  EXPECT_EQ(two.best->layout.micro_batch, 2);
  request_.where = ParseLayoutCondition("where", "mb = 2").value();
  EXPECT_EQ(two.best->estimate.tokens_per_s, Best(request_));
}

TEST_F(StudyTest, TheRequestsConditionHoldsForEveryArm) {
  request_.where = ParseLayoutCondition("where", "tp = 2").value();
  const auto ablations = Study(request_, 0.05).value();
  for (const Ablation& ablation : ablations) {
    for (const Arm& arm : ablation.arms) {
      if (arm.best) {
        EXPECT_EQ(arm.best->layout.tp, 2) << ablation.name << " " << arm.name;
      } else {
        EXPECT_NE(arm.problem, "") << ablation.name << " " << arm.name;
      }
    }
  }
}

TEST_F(StudyTest, VerdictsFollowTheGain) {
  for (const double within : {0.0, 0.05, 10.0}) {
    const auto ablations = Study(request_, within).value();
    for (const Ablation& ablation : ablations) {
      if (!ablation.gain) {
        EXPECT_EQ(ablation.verdict, Verdict::kOpen) << ablation.name;
        continue;
      }
      EXPECT_EQ(ablation.verdict, std::abs(*ablation.gain) <= within ? Verdict::kTies
                                  : *ablation.gain > 0.0             ? Verdict::kHolds
                                                                     : Verdict::kDoesNotHold)
          << ablation.name << " " << *ablation.gain;
    }
  }
}

// Kernels that write scores out take time and memory.
TEST_F(StudyTest, EagerKernelsAreSlower) {
  const auto ablations = Study(request_, 0.0).value();
  const Ablation& kernels = Named(ablations, "kernels");
  ASSERT_EQ(kernels.arms.size(), 4u);
  EXPECT_EQ(kernels.verdict, Verdict::kHolds) << kernels.sentence;
}

TEST(Study, RecommendsTheFirstProductThatFits) {
  const TestContext test = MakeContext("hagemann-65b", "a100-80", 2048, 2048);
  SearchRequest request = MakeRequest(test, 64);
  request.where = ParseLayoutCondition("where", "zero = 1 and rc = none").value();
  const auto ablations = Study(request, 0.0).value();
  const Ablation& least = Named(ablations, "model_parallel");
  bool before = true;
  for (const Arm& arm : least.arms) {
    EXPECT_EQ(arm.recommended, before && arm.best.has_value()) << arm.name;
    before = before && !arm.best;
  }
  EXPECT_FALSE(least.arms.front().best.has_value());
}

TEST(Study, StopsWhenNobodyWaits) {
  const TestContext test = MakeContext("llama-2-13b", "a100-80", 2048, 512);
  SearchRequest request = MakeRequest(test, 64);
  int64_t searches = 0;
  request.run.cancelled = [&searches] { return searches > 2; };
  const auto ablations =
      Study(request, 0.0, [&searches](int64_t done, int64_t) { searches = done; });
  EXPECT_TRUE(absl::IsCancelled(ablations.status())) << ablations.status();
}

}  // namespace
}  // namespace meshwright::planner
