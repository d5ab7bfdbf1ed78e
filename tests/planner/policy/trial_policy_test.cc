#include "planner/policy/trial_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace meshwright::planner {
namespace {

using testing::HasSubstr;
using testing::Optional;

// Candidates on a line, an octave apart, predicted at these times.
std::vector<TrialCandidate> Predicted(const std::vector<double>& steps_s) {
  std::vector<TrialCandidate> candidates;
  for (const double step_s : steps_s) {
    const auto place = static_cast<double>(candidates.size());
    candidates.push_back({.point = {3.0 * place}, .step_s = step_s, .oom_probability = 0.01});
  }
  return candidates;
}

TrialFinding Measured(size_t candidate, double step_s) {
  return {.candidate = candidate, .end = TrialEnd::kMeasured, .step_s = step_s};
}

TrialFinding Ended(size_t candidate, TrialEnd end) { return {.candidate = candidate, .end = end}; }

TEST(TrialPolicy, TheFirstIsTheFastestThatRatherFits) {
  auto candidates = Predicted({1.0, 0.8, 1.2});
  EXPECT_THAT(ChooseTrial(candidates, {}, {}).next, Optional(1u));
  candidates[1].oom_probability = 0.5;
  const TrialChoice choice = ChooseTrial(candidates, {}, {});
  EXPECT_THAT(choice.next, Optional(0u));
  EXPECT_EQ(choice.gain, std::nullopt);
  EXPECT_EQ(
      ReasonOf(choice, {}),
      "the fastest by its estimate, 1 s, of those more likely to fit than not (it runs out of "
      "memory with a probability of 0.01)");
}

TEST(TrialPolicy, WhereNothingFitsNoTrialIsSpent) {
  auto candidates = Predicted({1.0, 0.8});
  for (TrialCandidate& candidate : candidates) candidate.oom_probability = 0.9;
  const TrialChoice choice = ChooseTrial(candidates, {}, {});
  EXPECT_EQ(choice.next, std::nullopt);
  EXPECT_EQ(choice.stop, TrialStop::kNothingFits);
  EXPECT_THAT(ReasonOf(choice, {}), HasSubstr("with a probability of at least 0.5"));
}

TEST(TrialPolicy, StopsWhereNoLayoutIsLeft) {
  const TrialChoice choice = ChooseTrial(Predicted({1.0}), {{Measured(0, 1.0)}}, {});
  EXPECT_EQ(choice.stop, TrialStop::kAllRan);
  EXPECT_EQ(ReasonOf(choice, {}), "no other layout is left");
  EXPECT_EQ(ChooseTrial({}, {}, {}).stop, TrialStop::kAllRan);
}

TEST(TrialPolicy, AResultIsLearnedFrom) {
  // Two families: 0 to 2 are close to each other, 3 is far away. That 0 is slow speaks against 1.
  std::vector<TrialCandidate> candidates = Predicted({1.0, 1.02, 1.04, 1.05});
  candidates[1].point = {0.5};
  candidates[2].point = {1.0};
  candidates[3].point = {20.0};
  const TrialChoice choice = ChooseTrial(candidates, {{Measured(0, 1.3)}}, {});
  EXPECT_THAT(choice.next, Optional(3u));
  EXPECT_GT(choice.beliefs[1].step_s, 1.2);
  EXPECT_LT(choice.beliefs[1].spread, choice.beliefs[3].spread);
}

TEST(TrialPolicy, NearCopiesOfTheBestWait) {
  std::vector<TrialCandidate> candidates = Predicted({1.0, 1.0, 1.01});
  candidates[1].point = {0.01};
  candidates[2].point = {6.0};
  const TrialChoice choice = ChooseTrial(candidates, {{Measured(0, 1.0)}}, {});
  EXPECT_THAT(choice.next, Optional(2u));
  EXPECT_LT(choice.beliefs[1].gain, 0.01);
}

TEST(TrialPolicy, ALayoutThatRunsCountsAsIfItMeasuredWhatIsBelieved) {
  std::vector<TrialCandidate> candidates = Predicted({1.0, 1.01, 1.02});
  candidates[1].point = {6.0};
  candidates[2].point = {6.05};
  const auto beside =
      ChooseTrial(candidates, {{Measured(0, 1.0), Ended(1, TrialEnd::kRunning)}}, {});
  const auto alone = ChooseTrial(candidates, {{Measured(0, 1.0)}}, {});
  EXPECT_THAT(alone.next, Optional(1u));
  EXPECT_LT(beside.beliefs[2].gain, alone.beliefs[2].gain);
  // The best is measured: nothing that runs is believed to be faster.
  EXPECT_NEAR(beside.beliefs[0].gain, alone.beliefs[0].gain, 1e-5);
}

TEST(TrialPolicy, AgentsThatAreIdleTogetherGetLayoutsThatDiffer) {
  // 1 is a near copy of the first; 2 is slower by its estimate and far from both; 3 is hopeless.
  std::vector<TrialCandidate> candidates = Predicted({1.0, 1.001, 1.02, 3.0});
  candidates[1].point = {0.01};
  const std::vector<TrialChoice> choices = ChooseTrials(candidates, {}, {}, 4);
  ASSERT_EQ(choices.size(), 3u);
  EXPECT_THAT(choices[0].next, Optional(0u));
  EXPECT_EQ(choices[0].gain, std::nullopt);
  EXPECT_THAT(choices[1].next, Optional(2u));
  EXPECT_THAT(choices[1].gain, Optional(testing::Gt(0.01)));
  EXPECT_EQ(choices[2].stop, TrialStop::kGain);
  EXPECT_EQ(ChooseTrials(candidates, {}, {}, 1).size(), 1u);
}

TEST(TrialPolicy, WhatRanOutRulesOutWhatNeedsMore) {
  auto candidates = Predicted({1.0, 1.01, 1.3});
  candidates[0].oom_probability = 0.3;
  candidates[1].oom_probability = 0.4;
  candidates[2].oom_probability = 0.001;
  const TrialChoice choice = ChooseTrial(candidates, {{Ended(0, TrialEnd::kOutOfMemory)}}, {});
  EXPECT_GE(choice.beliefs[1].oom_probability, 0.5);
  EXPECT_THAT(choice.next, Optional(2u));
}

TEST(TrialPolicy, AFailureForAnotherReasonSaysNothingOfOthers) {
  const auto candidates = Predicted({1.0, 1.1});
  const TrialChoice before = ChooseTrial(candidates, {}, {});
  const TrialChoice after = ChooseTrial(candidates, {{Ended(0, TrialEnd::kFailed)}}, {});
  EXPECT_THAT(after.next, Optional(1u));
  EXPECT_EQ(after.beliefs[1].step_s, before.beliefs[1].step_s);
  EXPECT_EQ(after.beliefs[1].oom_probability, before.beliefs[1].oom_probability);
}

TEST(TrialPolicy, StopsWhereNoGainIsWorthATrial) {
  const auto candidates = Predicted({1.0, 2.0, 2.5});
  const TrialChoice choice = ChooseTrial(candidates, {{Measured(0, 1.0)}}, {});
  EXPECT_EQ(choice.next, std::nullopt);
  EXPECT_EQ(choice.stop, TrialStop::kGain);
  EXPECT_THAT(choice.gain, Optional(testing::Lt(0.01)));
  EXPECT_THAT(
      ReasonOf(choice, {}),
      HasSubstr("no other layout is expected to be faster than the best by 1.0 %: at most by "));
  // The same sweep goes on where less is worth a trial.
  EXPECT_TRUE(ChooseTrial(candidates, {{Measured(0, 1.0)}}, {.min_gain = 1e-9}).next.has_value());
}

TEST(TrialPolicy, ALargeGainIsSaidWithoutAnExponent) {
  TrialChoice choice;
  choice.stop = TrialStop::kTrials;
  choice.gain = 1.14;
  EXPECT_THAT(ReasonOf(choice, {}), HasSubstr("faster than the best by 114 % (by"));
  choice.gain = 0.0514;
  EXPECT_THAT(ReasonOf(choice, {}), HasSubstr("faster than the best by 5.1 % (by"));
}

TrialChoice AfterOneTrial(const std::vector<TrialCandidate>& candidates, double noise) {
  std::vector<TrialFinding> findings = {Measured(0, 1.0)};
  findings[0].noise = noise;
  return ChooseTrial(candidates, findings, {});
}

TEST(TrialPolicy, ATrialIsWorthLessTheLessItsStepsTell) {
  const auto candidates = Predicted({1.0, 1.0});
  const double exact = AfterOneTrial(candidates, 0.0).beliefs[1].gain;
  EXPECT_LT(AfterOneTrial(candidates, 0.2).beliefs[1].gain, 0.7 * exact);
  EXPECT_LT(AfterOneTrial(candidates, 1.0).beliefs[1].gain, 0.3 * exact);
  EXPECT_EQ(AfterOneTrial(candidates, 5.0).stop, TrialStop::kGain);
}

TEST(TrialPolicy, NoiseIsThatOfTheTrialsThatTellTheirs) {
  const auto candidates = Predicted({1.0, 1.0, 1.0});
  std::vector<TrialFinding> findings = {Measured(0, 1.0), Measured(1, 1.0)};
  EXPECT_EQ(ChooseTrial(candidates, findings, {}).own_noise, 0.0);
  findings[1].noise = 0.4;
  const TrialChoice choice = ChooseTrial(candidates, findings, {.min_gain = 0.5});
  EXPECT_EQ(choice.own_noise, 0.4);
  EXPECT_THAT(ReasonOf(choice, {.min_gain = 0.5}),
              HasSubstr("whose median is known within 40.0 %"));
}

TEST(TrialPolicy, WhatALayoutHasInCommonWithTheBestIsNoReasonToRunIt) {
  auto candidates = Predicted({1.0, 1.0, 1.0});
  candidates[1].point = {0.01};
  const TrialChoice choice = AfterOneTrial(candidates, 0.3);
  // Both may be a quarter faster or slower than they are believed to be, but together.
  EXPECT_GT(choice.beliefs[1].spread, 0.2);
  EXPECT_LT(choice.beliefs[1].gain, 0.001);
  EXPECT_THAT(choice.next, Optional(2u));
}

TEST(TrialPolicy, ANoisyResultIsBelievedLess) {
  const auto belief = [](double noise) {
    auto candidates = Predicted({1.0, 1.0});
    candidates[1].point = {0.5};
    std::vector<TrialFinding> findings = {Measured(0, 1.5)};
    findings[0].noise = noise;
    return ChooseTrial(candidates, findings, {}).beliefs[1];
  };
  EXPECT_LT(belief(0.4).step_s, belief(0.0).step_s);
  EXPECT_GT(belief(0.4).spread, belief(0.0).spread);
}

TEST(TrialPolicy, StopsAfterItsTrials) {
  const auto candidates = Predicted({1.0, 1.0, 1.0});
  const TrialPolicyOptions options = {.max_trials = 1};
  const TrialChoice choice = ChooseTrial(candidates, {{Measured(0, 1.0)}}, options);
  EXPECT_EQ(choice.stop, TrialStop::kTrials);
  EXPECT_THAT(
      ReasonOf(choice, options),
      HasSubstr("the limit of 1 trial is reached, although a layout that was not measured is "
                "expected to be faster than the best by"));
}

TEST(TrialPolicy, ExpectsTheImprovementOfANormalLogarithm) {
  // With nothing but a common error, which one measurement of no noise tells: 1 % ahead for sure.
  const TrialPolicyOptions options = {
      .residuals = {.common = 0.2, .axis = 0.0, .near = 0.0, .noise = 1e-6}};
  const TrialChoice choice = ChooseTrial(Predicted({1.0, 0.98}), {{Measured(0, 1.2)}}, options);
  EXPECT_THAT(choice.gain, Optional(testing::DoubleNear(-std::log(0.98), 1e-5)));
}

}  // namespace
}  // namespace meshwright::planner
