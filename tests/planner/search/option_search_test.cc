// Holds a search over options to separate searches under each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/text/field_error.h"
#include "planner/catalog/catalog.h"
#include "planner/search/search.h"
#include "tests/planner/search/random_problem.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

std::vector<OptionChoice> Choices(const std::vector<std::string>& texts, const TrainingSpec& own) {
  return CombineOptions("search", ParseSearchedOptions("search", texts).value(), own).value();
}

// A large vocabulary, so that the loss decides what fits.
SearchRequest RequestOf(const std::vector<std::string>& texts) {
  static const TestContext* const kContext =
      new TestContext(MakeContext("llama-3-8b", "h100", 8192, 64));
  SearchRequest request = MakeRequest(*kContext, 8);
  // Fewer than one answer lists.
  request.where = ParseLayoutCondition("where", "mb = 1 and vpp = 1 and sp = 1").value();
  request.choices = Choices(texts, request.training);
  return request;
}

// What each choice's own search finds, with every layout that fits.
std::vector<SearchResult> Alone(SearchRequest request) {
  std::vector<SearchResult> results;
  const std::vector<OptionChoice> choices = std::move(request.choices);
  request.mine.reset();
  request.top = kMostLayouts;
  for (const OptionChoice& choice : choices) {
    SearchRequest alone = request;
    alone.choices = {choice};
    const absl::StatusOr<SearchResult> result = Search(alone);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) continue;
    EXPECT_LT(result->layouts.size(), static_cast<size_t>(kMostLayouts));
    results.push_back(*result);
  }
  return results;
}

std::vector<RankedLayout> Merged(const std::vector<SearchResult>& results) {
  std::vector<RankedLayout> all;
  for (const SearchResult& result : results) {
    all.insert(all.end(), result.layouts.begin(), result.layouts.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const RankedLayout& a, const RankedLayout& b) {
    return a.estimate.mfu > b.estimate.mfu;
  });
  return all;
}

TEST(OptionSearch, RanksWhatTheSearchesUnderEachValueFind) {
  for (const int32_t threads : {1, 3}) {
    SearchRequest request = RequestOf({"loss=plain,chunked:8", "states=default,bf16,adam8bit"});
    request.top = 30;
    request.run.threads = threads;
    const std::vector<SearchResult> alone = Alone(request);
    const SearchResult found = Search(request).value();
    const std::vector<RankedLayout> merged = Merged(alone);
    Funnel funnel;
    for (const SearchResult& result : alone) funnel.Add(result.funnel);
    EXPECT_EQ(found.funnel, funnel);
    ASSERT_EQ(found.layouts.size(), 30u);
    for (size_t i = 0; i < found.layouts.size(); ++i) EXPECT_EQ(found.layouts[i], merged[i]) << i;
    EXPECT_TRUE(std::any_of(found.layouts.begin(), found.layouts.end(), [](const auto& ranked) {
      return ranked.options != OptionValues{{"states", "default"}, {"loss", "plain"}};
    }));
  }
}

TEST(OptionSearch, CountsTheTiesOfAll) {
  const SearchRequest request = RequestOf({"loss=plain,chunked:8"});
  const std::vector<RankedLayout> merged = Merged(Alone(request));
  const SearchResult found = Search(request).value();
  const double best = merged.front().estimate.mfu;
  EXPECT_EQ(found.ties.count,
            std::count_if(merged.begin(), merged.end(), [&](const RankedLayout& ranked) {
              return ranked.estimate.mfu * (1.0 + found.ties.within) >= best;
            }));
}

// A row says all that an estimate needs.
TEST(OptionSearch, ARowIsTheEstimateUnderItsOptions) {
  const SearchRequest request = RequestOf({"loss=plain,chunked:8", "states=default,bf16"});
  const SearchResult found = Search(request).value();
  for (const RankedLayout& ranked : found.layouts) {
    SearchRequest one = request;
    one.choices.clear();
    for (const auto& [name, value] : ranked.options) {
      ASSERT_TRUE(SetOption("options", name, value, one.training).ok());
    }
    EXPECT_EQ(CheckAndEstimate(one, ranked.layout).value(), ranked.estimate);
  }
}

TEST(OptionSearch, OneValueChangesNothingButTheRows) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    RandomProblem problem(seed);
    SearchRequest request = problem.Request();
    const absl::StatusOr<SearchResult> plain = Search(request);
    request.choices = Choices({"loss=" + OptionText("loss", request.training)}, request.training);
    const absl::StatusOr<SearchResult> found = Search(request);
    ASSERT_EQ(plain.status(), found.status());
    if (!plain.ok()) continue;
    EXPECT_EQ(plain->funnel, found->funnel);
    ASSERT_EQ(plain->layouts.size(), found->layouts.size());
    for (size_t i = 0; i < plain->layouts.size(); ++i) {
      EXPECT_EQ(plain->layouts[i].layout, found->layouts[i].layout);
      EXPECT_EQ(plain->layouts[i].estimate, found->layouts[i].estimate);
      EXPECT_EQ(OptionWords(found->layouts[i].options), OptionWords(request.choices[0].values));
    }
    EXPECT_EQ(plain->ties.count, found->ties.count);
  }
}

TEST(OptionSearch, TheUsersLayoutStandsAmongAll) {
  SearchRequest request = RequestOf({"loss=plain,chunked:8", "states=default,bf16"});
  const std::vector<RankedLayout> merged = Merged(Alone(request));
  request.mine = MakeLayout("tp8.pp1.dp1.mb1.sp1.rc=full");
  const auto rank = [&](const SearchRequest& of) {
    const UserLayoutRank mine = *Search(of)->mine;
    EXPECT_EQ(mine.faster,
              std::count_if(merged.begin(), merged.end(), [&](const RankedLayout& ranked) {
                return ranked.estimate.mfu > mine.estimate.mfu;
              }));
    return mine;
  };
  const UserLayoutRank own = rank(request);
  request.mine_options = request.choices.back();  // loss=chunked:8, states=bf16
  const UserLayoutRank other = rank(request);
  EXPECT_LT(other.estimate.memory.total_bytes(), own.estimate.memory.total_bytes());
  EXPECT_GT(own.faster, 0);
}

TEST(OptionSearch, AChoiceMayHaveAProfileWithAnotherSpace) {
  SearchRequest request = RequestOf({"compile=off,on"});
  const auto other = std::make_shared<const FrameworkProfile>(FindProfile("hf-fsdp2").value());
  request.choice_profiles = {nullptr, other};
  request.where = ParseLayoutCondition("where", "mb = 1 and vpp = 1 and tp >= 2").value();
  request.top = kMostLayouts;
  SearchRequest own = request;
  own.choices.clear();
  own.choice_profiles.clear();
  const SearchResult of_own = Search(own).value();
  own.profile = *other;
  own.training.options.compile = Compile::kOn;
  const SearchResult of_other = Search(own).value();
  const SearchResult found = Search(request).value();
  EXPECT_NE(of_own.funnel.enumerated, of_other.funnel.enumerated);
  Funnel funnel = of_own.funnel;
  funnel.Add(of_other.funnel);
  EXPECT_EQ(found.funnel, funnel);
  for (const RankedLayout& ranked : found.layouts) {
    const bool is_on = OptionWords(ranked.options) == "compile=on";
    const std::vector<RankedLayout>& expected = (is_on ? of_other : of_own).layouts;
    EXPECT_TRUE(std::any_of(expected.begin(), expected.end(), [&](const RankedLayout& alone) {
      return alone.layout == ranked.layout && alone.estimate == ranked.estimate;
    })) << RankedText(ranked);
  }
  // The user's layout has the profile of its own options.
  request.mine = MakeLayout("tp1.pp1.dp8.zero3.rc=full");
  request.mine_options = request.choices.back();
  request.mine_profile = other;
  EXPECT_EQ(Search(request)->mine->estimate, CheckAndEstimate(own, *request.mine).value());
}

TEST(OptionSearch, GroupsByOptions) {
  SearchRequest request = RequestOf({"loss=plain,chunked:8", "states=default,bf16"});
  request.best_per = ParseGroupFields("best_per", "loss,tp", request.choices).value();
  const SearchResult found = Search(request).value();
  const std::vector<RankedLayout> merged = Merged(Alone(request));
  EXPECT_EQ(found.groups.front().best, merged.front());
  int64_t fit = 0;
  for (const GroupBest& group : found.groups) {
    fit += group.fit;
    const auto is_of = [&](const RankedLayout& ranked) {
      const std::string loss = ranked.options[1].second;
      return group.group == "loss = " + loss + " and tp = " + std::to_string(ranked.layout.tp);
    };
    EXPECT_EQ(group.fit, std::count_if(merged.begin(), merged.end(), is_of)) << group.group;
    EXPECT_EQ(group.best, *std::find_if(merged.begin(), merged.end(), is_of)) << group.group;
  }
  EXPECT_EQ(fit, found.funnel.evaluated);
}

TEST(OptionSearch, GroupsOnlyByWhatIsSearched) {
  EXPECT_THAT(ParseGroupFields("best_per", "loss").status().message(),
              HasSubstr("without --search loss"));
  EXPECT_EQ(FieldOf(ParseGroupFields("best_per", "loss").status()), "best_per");
}

TEST(OptionSearch, TheNearestHasItsOptions) {
  SearchRequest request = RequestOf({"loss=plain,chunked:8", "states=default,adam8bit"});
  request.cluster.device.memory_bytes = int64_t{4} << 30;
  request.where = {};
  const SearchResult found = Search(request).value();
  ASSERT_TRUE(found.nearest.has_value());
  EXPECT_EQ(OptionWords(found.nearest->options), "states=adam8bit loss=chunked:8");
  EXPECT_EQ(found.nearest->estimate.memory.total_bytes() - AllowedBytes(request),
            found.nearest_over_bytes);
}

TEST(OptionSearch, ProgressIsThatOfAll) {
  SearchRequest request = RequestOf({"loss=plain,chunked:8"});
  SearchProgress last;
  request.run.progress = [&last](const SearchProgress& progress) { last = progress; };
  const SearchResult found = Search(request).value();
  EXPECT_EQ(last.seen, last.of);
  EXPECT_EQ(last.of % 2, 0);
  EXPECT_GE(found.funnel.enumerated, last.of);
}

}  // namespace
}  // namespace meshwright::planner
