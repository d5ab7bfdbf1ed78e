#include "planner/search/ties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "planner/estimate/step_interval.h"
#include "planner/profile/planned_layout.h"
#include "planner/search/search.h"
#include "planner/search/space.h"
#include "tests/planner/search/dominated.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

TEST(Complexity, CountsAxesBeforeEverythingElse) {
  // Each is simpler than the next.
  const std::vector<const char*> layouts = {
      "tp1.pp1.dp8",
      "tp1.pp1.dp8.zero1",
      "tp1.pp1.dp8.rc=selective",
      "tp1.pp1.dp8.zero3.rc=full",
      "tp1.pp2.dp4",
      "tp1.pp2.dp4.sched=zb_h1",
      "tp1.pp2.dp4.vpp2",
      "tp1.pp2.dp4.vpp2.sched=breadth_first",
      "tp2.pp2.dp2",
      "tp2.cp2.pp2.dp2",
  };
  for (size_t i = 1; i < layouts.size(); ++i) {
    EXPECT_LT(ComplexityOf(MakeLayout(layouts[i - 1])), ComplexityOf(MakeLayout(layouts[i])))
        << layouts[i];
  }
  EXPECT_EQ(ComplexityOf(MakeLayout("tp2.pp1.dp4.mb2.sp1")),
            ComplexityOf(MakeLayout("tp4.pp1.dp2.mb1")));
}

// Everything that ties, found by an estimate of every layout of the space.
struct Tied {
  int64_t count = 0;
  std::vector<std::string> simplest;
};

Tied FindTied(const SearchRequest& request, const EstimateContext& context, double within) {
  std::vector<std::pair<double, Layout>> all;
  RuleInput input = RuleInputOf(context, request.devices);
  input.drops_dominated = true;
  SearchSpace(request.model, request.devices, request.training.global_batch, request.profile)
      .ForEach([&](const Layout& layout) {
        if (CheckLayout(input, layout) || IsDominatedHsdp(request, input, layout)) return;
        const Estimate estimate = EstimateLayout(context, layout);
        if (estimate.memory.total_bytes() > AllowedBytes(request)) return;
        all.emplace_back(estimate.time.step_s(), layout);
      });
  double best_s = all.front().first;
  for (const auto& [step_s, layout] : all) best_s = std::min(best_s, step_s);
  Tied tied;
  std::map<Complexity, std::pair<double, Layout>> fastest;
  for (const auto& [step_s, layout] : all) {
    if (step_s > best_s * (1.0 + within)) continue;
    ++tied.count;
    const auto [place, is_new] =
        fastest.try_emplace(ComplexityOf(layout), std::pair(step_s, layout));
    if (!is_new && step_s < place->second.first) place->second = {step_s, layout};
  }
  double faster_than = 2.0 * best_s;
  for (const auto& [complexity, candidate] : fastest) {
    if (candidate.first >= faster_than || tied.simplest.size() == kMostSimplest) continue;
    faster_than = candidate.first;
    tied.simplest.push_back(FormatLayout(candidate.second));
  }
  return tied;
}

// With pressure near a device's capacity, which makes layouts slower than they seem without memory.
TEST(Search, FindsTheTiesThatAnEstimateOfEveryLayoutFinds) {
  for (const double pressure : {0.0, 1.0}) {
    TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
    context.profile.kept.pressure_slope = pressure;
    context.profile.kept.pressure_from = 0.2;
    context.profile.supports.has_block_recompute = false;  // no points of the space
    context.profile.supports.recompute_modules = {};       // likewise
    SearchRequest request = MakeRequest(context, 32);
    request.top = 1;
    const SearchResult result = Search(request).value();
    const Ties& ties = result.ties;
    const Tied expected = FindTied(request, context.get(), ties.within);
    EXPECT_GT(ties.count, 5);
    EXPECT_EQ(ties.count, expected.count);
    std::vector<std::string> simplest;
    for (const RankedLayout& ranked : ties.simplest) {
      simplest.push_back(FormatLayout(ranked.layout));
      EXPECT_EQ(ranked.estimate, EstimateLayout(context.get(), ranked.layout));
    }
    EXPECT_EQ(simplest, expected.simplest);
    // By what sources differ, all layouts of a run err alike.
    EXPECT_DOUBLE_EQ(ties.within, StepSpread(context.cluster, context.profile) - 1.0);
  }
}

// tp2.cp2.pp8.vpp5 is 0.4 % faster than what needs neither cp nor vpp: no discovery.
TEST(Search, CallsFewPartsInAThousandATie) {
  const TestContext context = MakeContext("llama-3-70b", "h100", 4096, 1024);
  const SearchResult result = Search(MakeRequest(context, 512)).value();
  ASSERT_FALSE(result.ties.simplest.empty());
  const Complexity best = ComplexityOf(result.layouts.front().layout);
  const Complexity simplest = ComplexityOf(result.ties.simplest.front().layout);
  EXPECT_LT(simplest, best);
  constexpr auto kAxesPlace = static_cast<size_t>(Burden::kAxes);
  EXPECT_LT(simplest.burdens[kAxesPlace], best.burdens[kAxesPlace]);
  EXPECT_GT(result.ties.count, 10);
}

TEST(Search, HasNoTiesWhereNothingFits) {
  const TestContext context = MakeContext("llama-3-405b", "a100-40", 4096, 8);
  const SearchResult result = Search(MakeRequest(context, 8)).value();
  EXPECT_EQ(result.ties.count, 0);
  EXPECT_TRUE(result.ties.simplest.empty());
}

// What is dropped as dominated keeps, layer by layer, what it keeps without recompute; what is not
// keeps less.
TEST(Search, DropsSelectiveRecomputeExactlyWhereItFreesNothing) {
  int dominated = 0;
  int useful = 0;
  for (const char* framework : {"megatron", "torchtitan-fsdp", "meshwright"}) {
    const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64, framework);
    for (const char* attention : {"", ".attn=flash2", ".attn=eager", ".attn=fused_softmax"}) {
      const Layout selective =
          ParseLayout(std::string("tp1.pp1.dp8.rc=selective") + attention).value();
      Layout none = selective;
      none.recompute = Recompute::kNone;
      RuleInput input = RuleInputOf(context.get(), 8);
      const auto plain = CheckLayout(input, selective);
      input.drops_dominated = true;
      EXPECT_FALSE(CheckLayout(input, none) && !CheckLayout(context.get(), 8, none));
      if (plain) continue;  // the worker has no such kernel
      const int64_t kept = PlannedLayout(context.get(), selective).block(0).kept_bytes;
      const bool frees = kept < PlannedLayout(context.get(), none).block(0).kept_bytes;
      const auto violation = CheckLayout(input, selective);
      EXPECT_EQ(violation.has_value(), !frees) << framework << attention;
      ++(frees ? useful : dominated);
      if (!violation) continue;
      EXPECT_EQ(RuleName(violation->rule), "dominated");
      EXPECT_GE(EstimateLayout(context.get(), selective).time.step_s(),
                EstimateLayout(context.get(), none).time.step_s());
    }
  }
  EXPECT_GT(dominated, 1);
  EXPECT_GT(useful, 1);
}

}  // namespace
}  // namespace meshwright::planner
