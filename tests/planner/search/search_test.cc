#include "planner/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "planner/layout/layout_condition.h"
#include "planner/search/module_recompute.h"
#include "planner/search/space.h"
#include "tests/planner/search/dominated.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

TEST(Search, CountsEveryPointOnce) {
  TestContext context = MakeContext("llama-3-70b", "h100", 8192, 64);
  const SearchResult result = Search(MakeRequest(context, 64)).value();
  const Funnel& funnel = result.funnel;
  // rc=block:N and modules come on top.
  const int64_t points = SearchSpace(context.model, 64, 64, context.profile).size();
  EXPECT_GT(funnel.enumerated, points);
  EXPECT_LT(funnel.enumerated, points + funnel.evaluated);
  context.profile.supports.has_block_recompute = false;
  context.profile.supports.recompute_modules = {};
  EXPECT_EQ(Search(MakeRequest(context, 64))->funnel.enumerated, points);
  EXPECT_EQ(funnel.enumerated, funnel.invalid + funnel.memory + funnel.evaluated);
  EXPECT_EQ(
      std::accumulate(funnel.invalid_by_rule.begin(), funnel.invalid_by_rule.end(), int64_t{0}),
      funnel.invalid);
  EXPECT_GT(funnel.memory, 0);
  EXPECT_GT(funnel.evaluated, 0);
}

// 18 bytes for each of 70.6 billion parameters are more than 16 devices hold.
TEST(Search, MovesToTheHostsWhatIsAskedFor) {
  const TestContext context = MakeContext("llama-3-70b", "h100", 4096, 64);
  SearchRequest request = MakeRequest(context, 16);
  EXPECT_TRUE(Search(request)->layouts.empty());
  request.offloads = ParseOffloads("opt").value();
  const SearchResult result = Search(request).value();
  ASSERT_FALSE(result.layouts.empty());
  for (const RankedLayout& ranked : result.layouts) {
    EXPECT_TRUE(ranked.layout.offload.optimizer);
    EXPECT_GT(ranked.estimate.host_node_bytes, 0);
  }
  // A cluster that says nothing of its hosts finds what it found before.
  request.cluster.host = HostProfile();
  const SearchResult refused = Search(request).value();
  EXPECT_TRUE(refused.layouts.empty());
  EXPECT_GT(refused.funnel.invalid_by_rule[static_cast<size_t>(Rule::kHostFigures)], 0);
}

TEST(Search, RanksByMfuAndKeepsTheMemoryRule) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  SearchRequest request = MakeRequest(context, 32);
  request.top = 50;
  const SearchResult result = Search(request).value();
  ASSERT_EQ(result.layouts.size(), 50u);
  for (size_t i = 0; i < result.layouts.size(); ++i) {
    EXPECT_LE(result.layouts[i].estimate.fraction_of_device, kMemoryShare);
    if (i == 0) continue;
    EXPECT_GE(result.layouts[i - 1].estimate.mfu, result.layouts[i].estimate.mfu);
  }
}

// The search knows the memory of few layouts to the byte; this works out all of them.
TEST(Search, FindsWhatAnEstimateOfEveryLayoutFinds) {
  for (const int64_t gibibytes : {2, 16, 48, 80}) {
    TestContext test = MakeContext("llama-2-7b", "h100", 4096, 8, "meshwright");
    test.cluster.device.memory_bytes = gibibytes << 30;
    test.profile.supports.has_block_recompute = false;  // no points of the space
    test.profile.supports.recompute_modules = {};       // likewise
    const SearchRequest request = MakeRequest(test, 8);
    const SearchResult found = Search(request).value();
    const EstimateContext context = test.get();
    RuleInput rules = RuleInputOf(context, 8);
    rules.drops_dominated = true;
    Funnel funnel;
    std::string best;
    double best_mfu = 0.0;
    std::string nearest;
    int64_t nearest_bytes = std::numeric_limits<int64_t>::max();
    SearchSpace(test.model, 8, 8, test.profile).ForEach([&](const Layout& layout) {
      if (CheckLayout(rules, layout) || IsDominatedHsdp(request, rules, layout)) return;
      const Estimate estimate = EstimateLayout(context, layout);
      const int64_t bytes = estimate.memory.total_bytes();
      if (bytes > AllowedBytes(request)) {
        ++funnel.memory;
        if (bytes < nearest_bytes) nearest = FormatLayout(layout);
        nearest_bytes = std::min(nearest_bytes, bytes);
        return;
      }
      ++funnel.evaluated;
      if (estimate.mfu > best_mfu) best = FormatLayout(layout);
      best_mfu = std::max(best_mfu, estimate.mfu);
    });
    SCOPED_TRACE(absl::StrCat(gibibytes, " GiB"));
    EXPECT_EQ(found.funnel.memory, funnel.memory);
    EXPECT_EQ(found.funnel.evaluated, funnel.evaluated);
    if (found.layouts.empty()) {
      EXPECT_EQ(FormatLayout(found.nearest->layout), nearest);
      EXPECT_EQ(found.nearest_over_bytes, nearest_bytes - AllowedBytes(request));
    } else {
      EXPECT_EQ(FormatLayout(found.layouts.front().layout), best);
      EXPECT_EQ(found.layouts.front().estimate,
                EstimateLayout(context, found.layouts.front().layout));
    }
  }
}

// Of all block:N the fewest layers that fit, and only where recomputing none does not.
TEST(Search, RecomputesAsFewLayersAsItMust) {
  for (const char* framework : {"megatron", "meshwright"}) {
    int blocks = 0;
    for (const int64_t gibibytes : {10, 14, 20, 28}) {
      TestContext test = MakeContext("llama-2-7b", "h100", 4096, 16, framework);
      test.cluster.device.memory_bytes = gibibytes << 30;
      SearchRequest request = MakeRequest(test, 16);
      request.top = 100;
      const auto bytes = [&](Layout layout, int32_t layers) {
        layout.recompute = layers == 0 ? Recompute::kNone : Recompute::kBlock;
        layout.recompute_layers = layers;
        return EstimateMemory(test.get(), layout).total_bytes();
      };
      const SearchResult found = Search(request).value();
      for (const auto& [layout, estimate, options] : found.layouts) {
        if (layout.recompute != Recompute::kBlock) continue;
        ++blocks;
        EXPECT_LE(estimate.memory.total_bytes(), AllowedBytes(request));
        EXPECT_GT(bytes(layout, 0), AllowedBytes(request)) << FormatLayout(layout);
        for (int32_t fewer = 1; fewer < layout.recompute_layers; ++fewer) {
          EXPECT_GT(bytes(layout, fewer), AllowedBytes(request)) << FormatLayout(layout);
        }
      }
    }
    EXPECT_GT(blocks, 0) << framework;
  }
}

// Of the modules as few as must be, and only where keeping everything does not fit.
void ExpectAsFewModulesAsItMust(const TestContext& test, int64_t devices) {
  SearchRequest request = MakeRequest(test, devices);
  request.top = 100;
  const auto fits = [&](const Layout& layout) {
    return EstimateMemory(test.get(), layout).total_bytes() <= AllowedBytes(request);
  };
  const SearchResult result = Search(request).value();
  int found = 0;
  for (const auto& [layout, estimate, options] : result.layouts) {
    if (layout.recompute != Recompute::kModules) continue;
    ++found;
    EXPECT_FALSE(CheckLayout(test.get(), devices, layout)) << FormatLayout(layout);
    EXPECT_TRUE(fits(layout));
    layout.recompute_modules.ForEach([&, of = layout](RecomputeModule module) {
      RecomputeModules fewer = of.recompute_modules;
      fewer.Remove(module);
      EXPECT_FALSE(fits(WithModules(of, fewer))) << FormatLayout(of);
    });
  }
  EXPECT_GT(found, 0);
}

TEST(Search, RecomputesAsFewModulesAsItMust) {
  ExpectAsFewModulesAsItMust(MakeContext("deepseek-v3", "h100", 4096, 2048), 512);
}

// Whose memory is known to the byte.
TEST(Search, RecomputesAsFewModulesOfTheWorkerAsItMust) {
  ExpectAsFewModulesAsItMust(MakeContext("mixtral-8x7b", "h100", 4096, 16, "meshwright"), 16);
}

TEST(Search, GivesTheSameRankingTwice) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const SearchResult first = Search(MakeRequest(context, 32)).value();
  const SearchResult second = Search(MakeRequest(context, 32)).value();
  ASSERT_EQ(first.layouts.size(), second.layouts.size());
  for (size_t i = 0; i < first.layouts.size(); ++i) {
    EXPECT_EQ(first.layouts[i].layout, second.layouts[i].layout);
  }
}

TEST(Search, NamesTheNearestLayoutWhenNothingFits) {
  const TestContext context = MakeContext("llama-3-405b", "a100-40", 4096, 8);
  const SearchResult result = Search(MakeRequest(context, 8)).value();
  EXPECT_TRUE(result.layouts.empty());
  ASSERT_TRUE(result.nearest.has_value());
  EXPECT_EQ(result.nearest_over_bytes,
            result.nearest->estimate.memory.total_bytes() - AllowedBytes(context.cluster));
  EXPECT_GT(result.nearest_over_bytes, 0);
}

TEST(Search, CountsWhatTheRunnerLacksUnderItsOwnRules) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  SearchRequest request = MakeRequest(context, 8);
  const Funnel planned = Search(request)->funnel;
  request.runner = Runner{.profile = context.profile};
  request.runner->profile.supports.max_zero = 0;
  const SearchResult result = Search(request).value();
  const auto framework = static_cast<size_t>(Rule::kFramework);
  EXPECT_GT(result.funnel.invalid_by_rule[framework], planned.invalid_by_rule[framework]);
  for (const RankedLayout& ranked : result.layouts) EXPECT_EQ(ranked.layout.zero, 0);
}

TEST(Search, SaysWhichBatchWouldDivide) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const auto result = Search(MakeRequest(context, 13));
  ASSERT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(result.status()), "global_batch");
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("must be a multiple of 13"));
}

TEST(Search, RefusesDevicesThatNothingDivides) {
  TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  context.profile.supports.vocab_multiple = 0;
  context.model.vocab = 32000;
  // A batch of one sequence can't be spread, so all devices would have to be tp, cp and pp.
  context.training = {.seq_len = 7, .global_batch = 1};
  const auto result = Search(MakeRequest(context, 1048573));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
}

// 720720 has 240 divisors; 5040 layers have 60.
TEST(Search, RefusesASpaceThatIsTooLargeBeforeItWalksIt) {
  TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64, "meshwright");
  context.model.groups.front().count = 5040;
  SearchRequest request = MakeRequest(context, 720720);
  request.run.cancelled = [] {
    ADD_FAILURE() << "the space is walked";
    return true;
  };
  const auto result = Search(request);
  ASSERT_TRUE(absl::IsInvalidArgument(result.status())) << result.status();
  EXPECT_EQ(FieldOf(result.status()), "gpus");
  const int64_t size = SearchSpace(context.model, 720720, 64, context.profile).size();
  EXPECT_GT(size, 100'000'000);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr(absl::StrCat("gpus = 720720: the search space has ", size,
                                     " layouts; must be at most 100000000: take ")));
}

TEST(Search, TakesAsManyDevicesAsTheLargestClustersHave) {
  for (const int64_t devices : {16384, 24576, 98304}) {
    const TestContext context = MakeContext("llama-3-405b", "h100", 8192, 2048);
    EXPECT_LE(SearchSpace(context.model, devices, 2048, context.profile).size(), kMostPoints);
  }
}

TEST(Search, NamesFasterLayoutsThatAreMoreLikelyToFitThanNot) {
  const TestContext context = MakeContext("llama-3-70b", "h100", 4096, 512);
  const SearchResult result = Search(MakeRequest(context, 64)).value();
  ASSERT_FALSE(result.worth_a_trial.empty());
  EXPECT_LE(result.worth_a_trial.size(), static_cast<size_t>(kMostTrials));
  for (size_t i = 0; i < result.worth_a_trial.size(); ++i) {
    const Estimate& estimate = result.worth_a_trial[i].estimate;
    EXPECT_GT(estimate.fraction_of_device, kMemoryShare);
    EXPECT_LT(estimate.oom_probability, kTrialOomProbability);
    EXPECT_LT(estimate.time.step_s(), result.layouts.front().estimate.time.step_s());
    if (i > 0) {
      EXPECT_LE(estimate.mfu, result.worth_a_trial[i - 1].estimate.mfu);
    }
  }
}

TEST(Search, KeepsLayoutsUpToAnOomProbability) {
  const TestContext context = MakeContext("llama-3-70b", "h100", 4096, 512);
  SearchRequest request = MakeRequest(context, 64);
  const SearchResult by_rule = Search(request).value();
  request.max_oom_probability = 0.3;
  const SearchResult by_risk = Search(request).value();
  for (const RankedLayout& ranked : by_risk.layouts) {
    EXPECT_LE(ranked.estimate.oom_probability, 0.3);
  }
  for (const RankedLayout& ranked : by_risk.worth_a_trial) {
    EXPECT_GT(ranked.estimate.oom_probability, 0.3);
  }
  // What was worth a trial up to that risk is kept now.
  EXPECT_LT(by_risk.funnel.memory, by_rule.funnel.memory);
  EXPECT_GT(by_risk.layouts.front().estimate.mfu, by_rule.layouts.front().estimate.mfu);
  EXPECT_EQ(by_risk.funnel.enumerated,
            by_risk.funnel.invalid + by_risk.funnel.memory + by_risk.funnel.evaluated);
}

TEST(Search, AtProbabilityOneKeepsAll) {
  const TestContext context = MakeContext("llama-3-405b", "a100-40", 4096, 8);
  SearchRequest request = MakeRequest(context, 8);
  request.max_oom_probability = 1.0;
  const SearchResult result = Search(request).value();
  EXPECT_EQ(result.funnel.memory, 0);
  EXPECT_FALSE(result.layouts.empty());
  EXPECT_TRUE(result.worth_a_trial.empty());
  request.max_oom_probability = 1e-300;
  EXPECT_TRUE(Search(request).value().layouts.empty());
}

TEST(SearchInput, OutOfRangeIsRefusedNamingTheField) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const auto field_of = [](const SearchRequest& request) {
    return FieldOf(Search(request).status());
  };
  SearchRequest request = MakeRequest(context, 0);
  EXPECT_EQ(field_of(request), "gpus");
  request = MakeRequest(context, int64_t{1} << 40);
  EXPECT_EQ(field_of(request), "gpus");
  request = MakeRequest(context, 8);
  request.training.seq_len = -1;
  EXPECT_EQ(field_of(request), "seq_len");
  request = MakeRequest(context, 8);
  request.training.global_batch = int64_t{1} << 60;
  EXPECT_EQ(field_of(request), "global_batch");
  request = MakeRequest(context, 8);
  request.top = 0;
  EXPECT_EQ(field_of(request), "top");
  request = MakeRequest(context, 8);
  request.run.threads = 0;
  EXPECT_EQ(field_of(request), "threads");
  for (const double seconds : {0.0, -1.0, std::nan("")}) {
    request = MakeRequest(context, 8);
    request.time_limit_s = seconds;
    EXPECT_EQ(field_of(request), "time_limit_s");
  }
  for (const double probability : {0.0, -0.5, 1.5, std::nan("")}) {
    request = MakeRequest(context, 8);
    request.max_oom_probability = probability;
    EXPECT_EQ(field_of(request), "max_oom_probability");
  }
}

TEST(SearchInput, HugeSequencesDoNotOverflow) {
  const TestContext context = MakeContext("llama-3-405b", "h100", int64_t{1} << 24, 1 << 24);
  const auto result = Search(MakeRequest(context, 8));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->layouts.empty());
  EXPECT_GT(result->nearest_over_bytes, 0);
}

TEST(CheckAndEstimate, RefusesALayoutOfAnotherSize) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const auto estimate = CheckAndEstimate(MakeRequest(context, 8), MakeLayout("tp2.pp1.dp2"));
  ASSERT_EQ(estimate.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(estimate.status()), "layout");
  EXPECT_THAT(std::string(estimate.status().message()), HasSubstr("is 4, but there are 8"));
}

// The rank is counted without keeping the layouts: held to a walk that works all of them out.
// Pressure makes some of them slower than they seem without their memory.
TEST(Search, CountsTheLayoutsThatAreFasterThanMine) {
  TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  context.profile.kept.pressure_slope = 1.0;
  context.profile.kept.pressure_from = 0.2;
  context.profile.supports.has_block_recompute = false;  // no points of the space
  context.profile.supports.recompute_modules = {};       // likewise
  SearchRequest request = MakeRequest(context, 32);
  request.top = 3;
  std::vector<std::pair<double, Layout>> all;
  const EstimateContext estimated = context.get();
  RuleInput rules = RuleInputOf(estimated, 32);
  rules.drops_dominated = true;
  SearchSpace(context.model, 32, 64, context.profile).ForEach([&](const Layout& layout) {
    if (CheckLayout(rules, layout) || IsDominatedHsdp(request, rules, layout)) return;
    const Estimate estimate = EstimateLayout(context.get(), layout);
    if (estimate.memory.total_bytes() <= AllowedBytes(request)) {
      all.emplace_back(estimate.mfu, layout);
    }
  });
  const auto faster = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::stable_sort(all.begin(), all.end(), faster);
  for (const size_t place : {size_t{0}, all.size() / 3, all.size() - 1}) {
    request.mine = all[place].second;
    const SearchResult result = Search(request).value();
    const auto first_as_fast = std::lower_bound(all.begin(), all.end(), all[place], faster);
    EXPECT_EQ(result.mine->faster, first_as_fast - all.begin());
    EXPECT_EQ(result.mine->estimate.mfu, all[place].first);
    EXPECT_EQ(result.mine->over_bytes, 0);
    EXPECT_EQ(result.layouts.size(), 3u);
  }
}

TEST(Search, MineMayBeWhatTheRunnerLacks) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  SearchRequest request = MakeRequest(context, 32);
  request.mine = MakeLayout("tp8.pp1.dp4");
  request.runner = Runner{.profile = context.profile, .attention = AttentionKernel::kFlash3};
  request.runner->profile.supports.kernels.cuda_attention = {AttentionKernel::kFlash2};
  EXPECT_EQ(Search(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.runner->attention = AttentionKernel::kDefault;
  request.runner->profile.supports.tp_needs_sequence_parallel = true;
  EXPECT_EQ(Search(request)->mine->violation->rule, Rule::kFramework);
}

// They lie between recomputing nothing and recomputing all, which need not be asked for.
TEST(SearchWhere, FindsPartsThatAreRecomputedWithoutTheirEnds) {
  const TestContext test = MakeContext("llama-3-70b", "h100", 8192, 256);
  SearchRequest request = MakeRequest(test, 64);
  request.top = 1000;
  const SearchResult all = Search(request).value();
  for (const char* words : {"rc = block", "rc = modules", "rc in (block, modules)"}) {
    request.where = ParseLayoutCondition("where", words).value();
    const SearchResult parts = Search(request).value();
    std::vector<RankedLayout> expected;
    for (const RankedLayout& one : all.layouts) {
      if (LayoutMatcher(request.where).Matches(one.layout)) expected.push_back(one);
    }
    ASSERT_GT(expected.size(), 10u) << words;
    ASSERT_GE(parts.layouts.size(), expected.size()) << words;
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(parts.layouts[i], expected[i]) << words;
  }
}

}  // namespace
}  // namespace meshwright::planner
