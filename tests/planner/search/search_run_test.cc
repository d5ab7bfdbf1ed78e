// How a search runs: on several threads, until a time limit, until nobody waits for it.
#include "planner/search/search_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "planner/search/search.h"
#include "planner/search/space.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(SearchRun, EndsSoonOnceItIsCancelled) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  SearchRequest request = MakeRequest(context, 64);
  int polls = 0;
  request.run.cancelled = [&polls] { return ++polls == 3; };
  EXPECT_TRUE(absl::IsCancelled(Search(request).status()));
  EXPECT_EQ(polls, 3);
  // Nobody cancels: the answer is the same as without the question.
  request.run.cancelled = [] { return false; };
  const SearchResult asked = Search(request).value();
  request.run.cancelled = nullptr;
  EXPECT_EQ(Search(request)->funnel, asked.funnel);
}

// Everything that an answer holds, but the run that made it.
void ExpectSameAnswer(const SearchResult& a, const SearchResult& b) {
  EXPECT_EQ(a.funnel, b.funnel);
  EXPECT_EQ(a.layouts, b.layouts);
  EXPECT_EQ(a.ties, b.ties);
  EXPECT_EQ(a.worth_a_trial, b.worth_a_trial);
  EXPECT_EQ(a.nearest, b.nearest);
  EXPECT_EQ(a.nearest_over_bytes, b.nearest_over_bytes);
  ASSERT_EQ(a.mine.has_value(), b.mine.has_value());
  if (a.mine) {
    EXPECT_EQ(a.mine->faster, b.mine->faster);
  }
}

TEST(SearchRun, AnswersTheSameOnAnyNumberOfThreads) {
  struct Case {
    const char* model;
    const char* cluster;
    int64_t devices;
    const char* framework;
  };
  for (const Case& one :
       {Case{"llama-3-70b", "h100", 64, "megatron"}, Case{"llama-3-8b", "h100", 16, "meshwright"},
        Case{"mixtral-8x7b", "h100", 32, "megatron"},
        Case{"llama-3-8b", "h100", 64, "torchtitan-fsdp"},
        Case{"llama-3-405b", "a100-40", 8, "megatron"}}) {  // nothing fits
    SCOPED_TRACE(absl::StrCat(one.model, " ", one.framework));
    const TestContext context = MakeContext(one.model, one.cluster, 4096, 64, one.framework);
    SearchRequest request = MakeRequest(context, one.devices);
    request.mine = MakeLayout(absl::StrCat("tp1.pp1.dp", one.devices, ".rc=full").c_str());
    const SearchResult alone = Search(request).value();
    for (const int32_t threads : {2, 7}) {
      request.run.threads = threads;
      ExpectSameAnswer(Search(request).value(), alone);
    }
  }
}

// A clock that each look at it moves on.
std::function<double()> Ticking(double& now_s) {
  return [&now_s] { return now_s += 1.0; };
}

TEST(SearchRun, EndsWithTheBestSoFarAtItsTimeLimit) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  SearchRequest request = MakeRequest(context, 64);
  const SearchResult whole = Search(request).value();
  EXPECT_FALSE(whole.partial.has_value());
  double now_s = 0.0;
  request.run.now_s = Ticking(now_s);
  request.time_limit_s = 300.0;
  const SearchResult partial = Search(request).value();
  ASSERT_TRUE(partial.partial.has_value());
  EXPECT_GT(partial.partial->seen, 0);
  EXPECT_LT(partial.partial->seen, partial.partial->of);
  EXPECT_EQ(partial.partial->of, SearchSpace(context.model, 64, 64, context.profile).size());
  const Funnel& funnel = partial.funnel;
  EXPECT_EQ(funnel.enumerated, funnel.invalid + funnel.memory + funnel.evaluated);
  EXPECT_LT(funnel.enumerated, whole.funnel.enumerated);
  EXPECT_FALSE(partial.layouts.empty());
  EXPECT_LE(partial.layouts.front().estimate.mfu, whole.layouts.front().estimate.mfu);
  // A limit that is not reached changes nothing.
  request.time_limit_s = 1e9;
  ExpectSameAnswer(Search(request).value(), whole);
  request.time_limit_s = 1.0;
  const absl::Status nothing = Search(request).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(nothing));
  EXPECT_THAT(std::string(nothing.message()),
              HasSubstr("the time limit of 1 s ended the search: 0 of "));
}

TEST(SearchRun, SaysHowFarItIsAndWhatItSawWhenItIsCancelled) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  SearchRequest request = MakeRequest(context, 64);
  const int64_t of = SearchSpace(context.model, 64, 64, context.profile).size();
  std::vector<SearchProgress> told;
  request.run.progress = [&told](const SearchProgress& progress) { told.push_back(progress); };
  ASSERT_TRUE(Search(request).ok());
  ASSERT_GT(told.size(), 10u);
  for (size_t i = 1; i < told.size(); ++i) EXPECT_GE(told[i].seen, told[i - 1].seen);
  EXPECT_EQ(told.back(), (SearchProgress{.seen = of, .of = of}));
  request.run.cancelled = [&] { return told.back().seen > of / 2 && told.back().seen < of; };
  told.assign(1, {});
  const absl::Status status = Search(request).status();
  ASSERT_TRUE(absl::IsCancelled(status));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(absl::StrCat(" of ", of, " layouts were seen, ")),
                    HasSubstr("; the best so far is tp")));
}

}  // namespace
}  // namespace meshwright::planner
