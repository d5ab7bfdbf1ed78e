// Holds the search to a plain loop: every point of its space in order, each with the rules and the
// estimate of one layout, and nothing remembered but what the next point is compared with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "planner/correction/correction.h"
#include "planner/estimate/peak_interval.h"
#include "planner/estimate/staged_estimate.h"
#include "planner/estimate/step_interval.h"
#include "planner/search/block_recompute.h"
#include "planner/search/mesh_walk.h"
#include "planner/search/module_recompute.h"
#include "planner/search/search.h"
#include "planner/search/space.h"
#include "planner/search/ties.h"
#include "tests/planner/search/random_problem.h"

namespace meshwright::planner {
namespace {

constexpr uint32_t kProblems = 60;

class PlainSearch {
 public:
  explicit PlainSearch(const SearchRequest& request)
      : request_(request),
        context_(ContextOf(request)),
        rules_(RuleInputOf(context_, request.devices)),
        allowed_bytes_(AllowedBytes(request)),
        trial_bytes_(BytesAtOomProbability(request, kTrialOomProbability)) {
    rules_.drops_dominated = true;
    SearchSpace(request.model, request.devices, request.training.global_batch, request.profile,
                request.offloads)
        .ForEach([this](const Layout& layout) { Visit(layout); });
    in_order = fit;
    const auto is_better = [this](const RankedLayout& a, const RankedLayout& b) {
      return Score(a) > Score(b);
    };
    std::stable_sort(fit.begin(), fit.end(), is_better);
    std::stable_sort(trials.begin(), trials.end(), is_better);
    const double best = fit.empty() ? 0.0 : Score(fit.front());
    std::erase_if(trials, [&](const RankedLayout& one) { return Score(one) <= best; });
    if (trials.size() > static_cast<size_t>(kMostTrials)) trials.resize(kMostTrials);
    if (MeritOf(request.objective) != Merit::kSpeed) trials.clear();
  }

  double Score(const RankedLayout& ranked) const {
    return ScoresOf(ranked.estimate)[MeritOf(request_.objective)];
  }

  // Layouts of one run have the same unfitted parts, so they are told apart as those without any.
  double ComparedSpread() const { return StepSpread(request_.cluster, request_.profile); }

  Funnel funnel;
  std::vector<RankedLayout> in_order;  // of the space; those that fit
  std::vector<RankedLayout> fit;       // best first
  std::vector<RankedLayout> trials;
  std::optional<RankedLayout> nearest;

 private:
  std::optional<Violation> Check(const Layout& layout) const {
    if (const auto violation = CheckLayout(rules_, layout)) return violation;
    if (!request_.runner) return std::nullopt;
    Layout run = layout;
    if (run.attention == AttentionKernel::kDefault) run.attention = request_.runner->attention;
    return CheckLayout(
        {request_.model, request_.cluster, request_.training, request_.runner->profile},
        request_.devices, run);
  }

  double MostMfu(const Layout& layout) const {
    return EstimateLayout(PlannedLayout(context_, layout), MemoryEstimate()).mfu;
  }

  // HSDP that is no faster than dividing among all replicas, which fits.
  bool IsDominated(const Layout& layout) const {
    Layout whole = layout;
    whole.shard_ranks = 0;
    return layout.shard_ranks > 0 && !Check(whole) &&
           LayoutMatcher(request_.where).Matches(whole) &&
           EstimateMemory(context_, whole).total_bytes() <= allowed_bytes_ &&
           MostMfu(layout) <= MostMfu(whole);
  }

  void Visit(const Layout& layout) {
    ++funnel.enumerated;
    if (layout.recompute == Recompute::kNone) none_is_over_ = false;
    if (const auto violation = Check(layout)) return Drop(violation->rule);
    if (!LayoutMatcher(request_.where).Matches(layout)) {
      ++funnel.left_out;
      return VisitParts(layout, EstimateMemory(context_, layout).total_bytes() > allowed_bytes_);
    }
    if (IsDominated(layout)) return Drop(Rule::kDominated);
    const RankedLayout ranked{layout, EstimateLayout(context_, layout)};
    const int64_t bytes = ranked.estimate.memory.total_bytes();
    if (bytes > allowed_bytes_) {
      ++funnel.memory;
      if (layout.recompute == Recompute::kNone) none_is_over_ = true;
      if (bytes < trial_bytes_) trials.push_back(ranked);
      if (!nearest || bytes < nearest->estimate.memory.total_bytes()) nearest = ranked;
      return;
    }
    ++funnel.evaluated;
    fit.push_back(ranked);
    if (layout.recompute == Recompute::kFull && none_is_over_) {
      AddBlock(layout);
      AddModules(layout);
    }
  }

  // Of an end of what may be recomputed that is not asked for: what lies between may be.
  void VisitParts(const Layout& layout, bool is_over) {
    if (layout.recompute == Recompute::kNone) none_is_over_ = is_over;
    if (layout.recompute != Recompute::kFull || is_over || !none_is_over_) return;
    AddBlock(layout);
    AddModules(layout);
  }

  void AddBlock(const Layout& full) {
    const int64_t most = MostLayersOfAChunk(PlannedLayout(context_, full));
    for (int64_t layers = 1; layers < most; ++layers) {
      const Layout block = WithBlockRecompute(full, layers);
      if (Check(block) || !LayoutMatcher(request_.where).Matches(block)) return;
      const Estimate estimate = EstimateLayout(context_, block);
      if (estimate.memory.total_bytes() > allowed_bytes_) continue;
      ++funnel.enumerated;
      ++funnel.evaluated;
      fit.push_back({block, estimate});
      return;
    }
  }

  // The first modules in their order that fit together, less those that the last made needless.
  void AddModules(const Layout& full) {
    RecomputeModules all = SearchedModules(rules_);
    if (request_.runner) {
      all = all.And(request_.runner->profile.supports.recompute_modules);
    }
    const auto fits = [this](const Layout& layout) {
      return EstimateMemory(context_, layout).total_bytes() <= allowed_bytes_;
    };
    const Layout none = WithModules(full, {});
    const Layout most = WithAllModules(none, all);
    if (all.empty() || !LayoutMatcher(request_.where).Matches(most) || !fits(most)) return;
    ASSERT_FALSE(Check(most));
    const Layout least = LeastModules(none, all, fits);
    ++funnel.enumerated;
    ++funnel.evaluated;
    fit.push_back({least, EstimateLayout(context_, least)});
  }

  void Drop(Rule rule) {
    ++funnel.invalid;
    ++funnel.invalid_by_rule[static_cast<size_t>(rule)];
  }

  const SearchRequest& request_;
  const EstimateContext context_;
  RuleInput rules_;
  const int64_t allowed_bytes_;
  const int64_t trial_bytes_;
  bool none_is_over_ = false;
};

std::string Describe(uint32_t seed, const SearchRequest& request) {
  return absl::StrCat("seed ", seed, ": ", request.model.name, " of ", request.model.layers(),
                      " layers under ", request.profile.name, " on ", request.devices, " x ",
                      request.cluster.name, " with ", request.cluster.device.memory_bytes,
                      " bytes");
}

std::vector<std::string> Texts(const std::vector<RankedLayout>& layouts, size_t most) {
  std::vector<std::string> texts;
  for (const RankedLayout& ranked : layouts) {
    if (texts.size() == most) break;
    texts.push_back(absl::StrCat(FormatLayout(ranked.layout), " ", ranked.estimate.mfu));
  }
  return texts;
}

void ExpectSameTies(const PlainSearch& plain, const Ties& ties) {
  const double best = plain.Score(plain.fit.front());
  int64_t count = 0;
  std::map<Complexity, RankedLayout> fastest;  // what comes first is the fastest of its kind
  for (const RankedLayout& ranked : plain.fit) {
    if (plain.Score(ranked) * (1.0 + ties.within) < best) break;
    ++count;
    fastest.try_emplace(ComplexityOf(ranked.layout), ranked);
  }
  EXPECT_EQ(ties.count, count);
  std::vector<RankedLayout> simplest;
  for (const auto& [complexity, ranked] : fastest) {
    if (simplest.size() == kMostSimplest) break;
    if (!simplest.empty() && plain.Score(ranked) <= plain.Score(simplest.back())) continue;
    simplest.push_back(ranked);
  }
  EXPECT_EQ(Texts(ties.simplest, kMostSimplest), Texts(simplest, kMostSimplest));
  EXPECT_DOUBLE_EQ(1.0 + ties.within, plain.ComparedSpread());
}

// Every layout that no other one equals or beats in all merits, but for the first of equals.
std::vector<RankedLayout> PlainFront(const PlainSearch& plain, const std::vector<Merit>& merits) {
  const auto covers = [&](const RankedLayout& a, const RankedLayout& b) {
    return std::all_of(merits.begin(), merits.end(), [&](Merit merit) {
      return ScoresOf(a.estimate)[merit] >= ScoresOf(b.estimate)[merit];
    });
  };
  std::vector<RankedLayout> front;
  for (size_t i = 0; !merits.empty() && i < plain.in_order.size(); ++i) {
    bool beaten = false;
    for (size_t j = 0; j < plain.in_order.size() && !beaten; ++j) {
      const RankedLayout& own = plain.in_order[i];
      const RankedLayout& other = plain.in_order[j];
      beaten = i != j && covers(other, own) && (j < i || !covers(own, other));
    }
    if (!beaten) front.push_back(plain.in_order[i]);
  }
  return front;
}

void ExpectSameGroups(const PlainSearch& plain, const SearchResult& found,
                      const std::vector<size_t>& fields) {
  int64_t fit = 0;
  double before = std::numeric_limits<double>::infinity();
  for (const GroupBest& group : found.groups) {
    const LayoutMatcher condition(ParseLayoutCondition("group", group.group).value());
    const auto is_in = [&condition](const RankedLayout& one) {
      return condition.Matches(one.layout);
    };
    EXPECT_EQ(group.fit, std::count_if(plain.fit.begin(), plain.fit.end(), is_in));
    EXPECT_EQ(group.best, *std::find_if(plain.fit.begin(), plain.fit.end(), is_in));
    EXPECT_LE(plain.Score(group.best), before);
    before = plain.Score(group.best);
    fit += group.fit;
  }
  EXPECT_EQ(fit, fields.empty() ? 0 : plain.funnel.evaluated);
}

TEST(PlainSearch, FindsWhatTheSearchFinds) {
  int64_t fronts = 0;
  int64_t groups = 0;
  int64_t others = 0;
  int64_t fit = 0;
  int64_t over = 0;
  int64_t left_out = 0;
  int64_t blocks = 0;
  int64_t modules = 0;
  int64_t experts = 0;
  for (uint32_t seed = 1; seed <= kProblems; ++seed) {
    RandomProblem problem(seed);
    SearchRequest request = problem.Request();
    SCOPED_TRACE(Describe(seed, request));
    const PlainSearch plain(request);
    const bool by_speed = MeritOf(request.objective) == Merit::kSpeed;
    if (!plain.fit.empty() && by_speed) {
      request.mine = plain.fit[problem.Index(plain.fit.size())].layout;
    }
    const absl::StatusOr<SearchResult> found = Search(request);
    ASSERT_EQ(found.ok(), plain.funnel.evaluated + plain.funnel.memory > 0) << found.status();
    if (!found.ok()) continue;
    EXPECT_EQ(found->funnel, plain.funnel);
    const auto top = static_cast<size_t>(request.top);
    ASSERT_EQ(Texts(found->layouts, top), Texts(plain.fit, top));
    for (size_t i = 0; i < found->layouts.size(); ++i) {
      EXPECT_EQ(found->layouts[i], plain.fit[i]) << FormatLayout(plain.fit[i].layout);
    }
    EXPECT_EQ(found->worth_a_trial, plain.trials);
    if (plain.fit.empty()) {
      ASSERT_TRUE(found->nearest.has_value());
      EXPECT_EQ(*found->nearest, *plain.nearest);
    } else {
      if (MeritOf(request.objective) != Merit::kMemory) ExpectSameTies(plain, found->ties);
      EXPECT_THAT(found->front,
                  testing::UnorderedElementsAreArray(PlainFront(plain, request.pareto)));
      ExpectSameGroups(plain, *found, request.best_per);
      fronts += static_cast<int64_t>(found->front.size());
      groups += static_cast<int64_t>(found->groups.size());
      others += by_speed ? 0 : 1;
      const double mine = by_speed ? found->mine->estimate.mfu : 0.0;
      const auto is_faster = [mine](const RankedLayout& one) { return one.estimate.mfu > mine; };
      if (by_speed) {
        EXPECT_EQ(found->mine->faster,
                  std::count_if(plain.fit.begin(), plain.fit.end(), is_faster));
      }
    }
    left_out += plain.funnel.left_out;
    fit += plain.funnel.evaluated;
    over += plain.funnel.memory;
    experts += request.model.has_experts() ? 1 : 0;
    for (const RankedLayout& one : plain.fit) {
      blocks += one.layout.recompute == Recompute::kBlock ? 1 : 0;
      modules += one.layout.recompute == Recompute::kModules ? 1 : 0;
    }
  }
  EXPECT_GT(fit, 10000);
  EXPECT_GT(over, 10000);
  EXPECT_GT(left_out, 1000);
  EXPECT_GT(blocks, 40);
  EXPECT_GT(modules, 60);
  EXPECT_GT(experts, 10);
  EXPECT_GT(fronts, 60);
  EXPECT_GT(groups, 100);
  EXPECT_GT(others, 8);
}

// Own runs that were slower and larger than estimated, and one that was faster.
std::shared_ptr<const Correction> CorrectionOf(const SearchRequest& request,
                                               const std::vector<RankedLayout>& fit) {
  std::vector<RunResidual> runs(2);
  runs[0].layout = fit.front().layout;
  runs[0].step = 0.2;
  runs[0].peak = 0.1;
  runs[1].layout = fit.back().layout;
  runs[1].step = -0.3;
  return std::make_shared<const Correction>(
      runs, CorrectionPriors{.step = {.shared = 0.19, .own = 0.06},
                             .peak = {.shared = 0.1, .own = 0.05},
                             .oom = OomCurveOf(request.profile, 0.0)});
}

TEST(PlainSearch, FindsWhatTheSearchFindsAfterOwnRuns) {
  constexpr uint32_t kCorrected = 20;
  int64_t fit = 0;
  int64_t reordered = 0;
  for (uint32_t seed = 1; seed <= kCorrected; ++seed) {
    RandomProblem problem(seed);
    SearchRequest request = problem.Request();
    SCOPED_TRACE(Describe(seed, request));
    const PlainSearch before(request);
    if (before.fit.size() < 2) continue;
    request.correction = CorrectionOf(request, before.fit);
    const PlainSearch plain(request);
    const absl::StatusOr<SearchResult> found = Search(request);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->funnel, plain.funnel);
    const auto top = static_cast<size_t>(request.top);
    ASSERT_EQ(Texts(found->layouts, top), Texts(plain.fit, top));
    for (size_t i = 0; i < found->layouts.size(); ++i) {
      EXPECT_EQ(found->layouts[i], plain.fit[i]) << FormatLayout(plain.fit[i].layout);
    }
    EXPECT_EQ(found->worth_a_trial, plain.trials);
    fit += plain.funnel.evaluated;
    reordered += Texts(plain.fit, top) != Texts(before.fit, top) ? 1 : 0;
  }
  EXPECT_GT(fit, 1000);
  EXPECT_GT(reordered, 3);
}

// Compares every valid point with a single estimate.
class ComparesEstimates {
 public:
  explicit ComparesEstimates(const SearchRequest& request)
      : context_(ContextOf(request)), staged_(context_, request.devices) {}

  void EnterMesh(size_t ways_to_divide) { staged_.EnterMesh(ways_to_divide); }
  void Drop(const Violation&, int64_t, PointOrder) {}
  bool GoesOn(int64_t) { return true; }
  int64_t Visit(const ValidPoint& point) {
    if (!StagedEstimate::Covers(context_, point.layout)) return 1;
    if (point.is_first) staged_.EnterCell(point.layout, point.pipeline);
    Compare(point.layout, point.way);
    if (point.layout.recompute != Recompute::kFull) return 1;
    for (int64_t layers = 1; layers < staged_.MostLayersOfAChunk(); ++layers) {
      Compare(WithBlockRecompute(point.layout, layers), point.way);
    }
    return 1;
  }

  int64_t compared = 0;

 private:
  void Compare(const Layout& layout, size_t way) {
    const Estimate estimate = EstimateLayout(context_, layout);
    ASSERT_EQ(staged_.MemoryBytes(layout, way), estimate.memory.total_bytes())
        << FormatLayout(layout);
    const double step_s = estimate.time.step_s();
    const double staged_s = staged_.StepSeconds(layout, way, estimate.fraction_of_device);
    ASSERT_NEAR(staged_s, step_s, kStagedError * step_s) << FormatLayout(layout);
    ASSERT_NEAR(staged_.MfuOf(staged_s), estimate.mfu, 2.0 * kStagedError * estimate.mfu);
    ++compared;
  }

  const EstimateContext context_;
  StagedEstimate staged_;
};

TEST(StagedEstimate, IsThatOfEachLayout) {
  int64_t compared = 0;
  for (uint32_t seed = 1001; seed <= 1000 + kProblems; ++seed) {
    RandomProblem problem(seed);
    const SearchRequest request = problem.Request();
    SCOPED_TRACE(Describe(seed, request));
    const SearchSpace space(request.model, request.devices, request.training.global_batch,
                            request.profile, request.offloads);
    const RuleInput rules = RuleInputOf(ContextOf(request), request.devices);
    ComparesEstimates sink(request);
    MeshWalk walk(rules, space, sink);
    for (size_t mesh = 0; mesh < space.meshes(); ++mesh) walk.Walk(mesh);
    compared += sink.compared;
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(compared, 100000);
}

}  // namespace
}  // namespace meshwright::planner
