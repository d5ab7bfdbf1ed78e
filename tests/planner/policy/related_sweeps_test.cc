#include "planner/policy/related_sweeps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/policy/residual_model.h"
#include "planner/policy/trial_policy.h"
#include "tests/planner/changed_options.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;

SweepTraits Small() {
  SweepTraits traits;
  traits.hidden = 4096;
  traits.layers = 32;
  traits.seq_len = 4096;
  traits.global_batch = 256;
  traits.devices = 64;
  traits.device = "h100";
  return traits;
}

SweepTraits Wider(int64_t factor) {
  SweepTraits traits = Small();
  traits.hidden *= factor;
  return traits;
}

RelatedSweep Sweep(std::string name, SweepTraits traits, std::vector<RelatedResult> results) {
  return {.name = std::move(name), .traits = std::move(traits), .results = std::move(results)};
}

const std::vector<TrialPoint> kLine = {{0.0}, {1.0}, {2.0}, {8.0}};

// A relative in which layout 0 took twice as long as predicted and layout 3 as long.
RelatedSweeps OneOf(SweepTraits traits) {
  return NearestRelatedSweeps(
      Small(), {Sweep("r", std::move(traits), {{{0.0}, std::log(2.0), 2.0}, {{8.0}, 0.0, 1.0}})});
}

std::vector<Residual> Before(const RelatedSweeps& relatives) {
  return ResidualModel(kLine, {}, relatives).Given({}, {}).residuals();
}

// Of the symmetric matrix's Cholesky factor, squared: above 0 for a positive definite one.
double LeastPivot(std::vector<std::vector<double>> matrix) {
  double least = matrix[0][0];
  for (size_t k = 0; k < matrix.size(); ++k) {
    least = std::min(least, matrix[k][k]);
    if (least <= 0.0) return least;
    const std::vector<double> row = matrix[k];
    for (size_t i = k + 1; i < matrix.size(); ++i) {
      for (size_t j = k + 1; j < matrix.size(); ++j) {
        matrix[i][j] -= row[i] * row[j] / row[k];
      }
    }
  }
  return least;
}

TEST(RelatedSweeps, ResultsOfARelativeShiftTheMeansOfLayoutsLikeThem) {
  const std::vector<Residual> residuals = Before(OneOf(Wider(2)));
  EXPECT_GT(residuals[0].mean, 0.1);
  EXPECT_GT(residuals[0].mean, residuals[1].mean);
  EXPECT_GT(residuals[1].mean, residuals[3].mean);
  const std::vector<Residual> alone = Before({});
  for (size_t i = 0; i < kLine.size(); ++i) EXPECT_LT(residuals[i].sd, alone[i].sd + 0.1);
  EXPECT_LT(residuals[3].sd, alone[3].sd);
}

TEST(RelatedSweeps, EachOptionSetsSweepsApart) {
  const double alike = SweepDistance(Small(), Small());
  for (const ChangedOption& option : kChangedOptions) {
    SweepTraits other = Small();
    other.options = ChangedOptions(WithOption({}, option));
    EXPECT_GT(SweepDistance(Small(), other), alike) << option.name;
    EXPECT_EQ(SweepDistance(Small(), other), SweepDistance(other, Small()));
    EXPECT_EQ(SweepDistance(other, other), alike);
  }
}

TEST(RelatedSweeps, NoisyResultsSayLess) {
  RelatedSweeps noisy = OneOf(Wider(2));
  for (RelatedResult& result : noisy.sweeps[0].results) result.noise = 0.5;
  EXPECT_LT(Before(noisy)[0].mean, 0.8 * Before(OneOf(Wider(2)))[0].mean);
}

TEST(RelatedSweeps, FarOnesHardlyDo) {
  SweepTraits far = Wider(64);
  far.device = "cpu";
  far.cluster = "mine";
  far.framework = "other";
  far.precision = "fp8";
  far.experts = 64;
  const double near = Before(OneOf(Wider(2)))[0].mean;
  EXPECT_LT(Before(OneOf(far))[0].mean, 0.1 * near);
}

TEST(RelatedSweeps, WithoutOnesEveryNumberIsTheSame) {
  const std::array measured = {MeasuredResidual{.layout = 0, .value = 0.2},
                               MeasuredResidual{.layout = 3, .value = -0.1}};
  // One whose results can say nothing is none.
  const RelatedSweeps none = NearestRelatedSweeps(Small(), {Sweep("r", Small(), {})});
  EXPECT_TRUE(none.sweeps.empty());
  const auto without =
      ResidualModel(kLine, {}).Given(measured, std::array<size_t, 1>{2}).residuals();
  const auto with =
      ResidualModel(kLine, {}, none).Given(measured, std::array<size_t, 1>{2}).residuals();
  for (size_t i = 0; i < kLine.size(); ++i) {
    EXPECT_EQ(with[i].mean, without[i].mean);
    EXPECT_EQ(with[i].sd, without[i].sd);
  }
}

TEST(RelatedSweeps, OwnResultsThatContradictThemAreBelieved) {
  // The relative says that 0 is slow and 3 is not; the sweep measures the opposite.
  const std::array measured = {MeasuredResidual{.layout = 0, .value = -0.3},
                               MeasuredResidual{.layout = 3, .value = 0.3}};
  const auto with = ResidualModel(kLine, {}, OneOf(Small())).Given(measured, {}).residuals();
  const auto without = ResidualModel(kLine, {}).Given(measured, {}).residuals();
  EXPECT_NEAR(with[1].mean, without[1].mean, 0.05);
}

TEST(RelatedSweeps, AnyOfThemTogetherGiveACovariance) {
  std::vector<SweepTraits> sweeps;
  for (const int64_t hidden : {1024, 2048, 8192}) {
    for (const int64_t experts : {1, 8, 64}) {
      for (const char* device : {"h100", "a100", "cpu"}) {
        SweepTraits traits = Small();
        traits.hidden = hidden;
        traits.experts = experts;
        traits.device = device;
        sweeps.push_back(traits);
      }
    }
  }
  std::vector<std::vector<double>> relations(sweeps.size(), std::vector<double>(sweeps.size()));
  for (size_t i = 0; i < sweeps.size(); ++i) {
    for (size_t j = 0; j < sweeps.size(); ++j) {
      relations[i][j] = i == j ? 1.0 : std::exp(-SweepDistance(sweeps[i], sweeps[j]));
    }
  }
  EXPECT_GT(LeastPivot(relations), 1e-6);
}

TEST(RelatedSweeps, TheNearestCountAndOfEachTheFastest) {
  std::vector<RelatedResult> many;
  many.reserve(20);
  for (int i = 0; i < 20; ++i) many.push_back({{0.0}, 0.0, 20.0 - i});
  std::vector<RelatedSweep> sweeps;
  for (const int64_t factor : {16, 1, 2, 4, 8, 32, 64, 128, 256, 512}) {
    sweeps.push_back(Sweep(std::to_string(factor), Wider(factor), many));
  }
  sweeps.push_back(Sweep("none", Small(), {}));
  const RelatedSweeps relatives = NearestRelatedSweeps(Small(), sweeps);
  EXPECT_EQ(relatives.results(), static_cast<int64_t>(kMostRelatedResults));
  std::vector<std::string> names;
  for (const RelatedSweep& sweep : relatives.sweeps) {
    names.push_back(sweep.name);
    EXPECT_EQ(sweep.results.size(), kMostResultsOfARelative);
    EXPECT_EQ(sweep.results.front().step_s, 1.0);
  }
  EXPECT_THAT(names, ElementsAre("1", "2", "4", "8", "16", "32", "64", "128"));
  EXPECT_EQ(Describe(relatives), "64 results of 8 related sweeps, the nearest of which is 1");
  EXPECT_EQ(Describe(OneOf(Small())), "2 results of 1 related sweep, r");
  EXPECT_EQ(Describe({}), "");
}

TEST(RelatedSweeps, DecideWhichLayoutRunsFirst) {
  // By the estimates alone 0 is the fastest; the relative says that it is not.
  std::vector<TrialCandidate> candidates;
  candidates.reserve(kLine.size());
  for (size_t i = 0; i < kLine.size(); ++i) {
    candidates.push_back({.point = kLine[i],
                          .step_s = 1.0 + 0.01 * static_cast<double>(i),
                          .oom_probability = 0.01});
  }
  EXPECT_EQ(ChooseTrial(candidates, {}, {}).next, 0u);
  EXPECT_EQ(ChooseTrial(candidates, {}, {}, OneOf(Small())).next, 3u);
}

}  // namespace
}  // namespace meshwright::planner
