#include "planner/layout/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/text/field_error.h"
#include "planner/layout/filter_match.h"
#include "planner/layout/filter_parser.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

bool Takes(const char* filter, const char* layout) {
  return Matches(ParseFilter("where", filter).value(), MakeLayout(layout));
}

TEST(Filter, ComparesEveryField) {
  const char* layout =
      "tp2.cp3.pp4.dp5.ep6.etp7.mb8.vpp9.zero2.sp1.rc=full.sched=interleaved.hs=10";
  for (const char* holds :
       {"tp = 2", "cp == 3", "pp >= 4", "dp < 6", "ep <= 6", "etp > 6", "mb != 7", "vpp in (8, 9)",
        "zero = 2", "sp = 1", "hs = 10", "rc = full", "sched = interleaved",
        "schedule in (1f1b, interleaved)", "rc != none"}) {
    EXPECT_TRUE(Takes(holds, layout)) << holds;
    EXPECT_FALSE(Takes((std::string("not ") + holds).c_str(), layout)) << holds;
  }
}

TEST(Filter, BindsAndMoreCloselyThanOr) {
  EXPECT_TRUE(Takes("tp = 1 or pp = 2 and dp = 9", "tp1.pp1.dp1"));
  EXPECT_FALSE(Takes("(tp = 1 or pp = 2) and dp = 9", "tp1.pp1.dp1"));
  EXPECT_TRUE(Takes("not tp = 2 and pp = 1", "tp1.pp1.dp1"));
  EXPECT_FALSE(Takes("not (tp = 2 or pp = 1)", "tp1.pp1.dp1"));
}

TEST(Filter, TakesEverythingWhenItIsEmpty) {
  for (const char* empty : {"", "  "}) {
    const Filter filter = ParseFilter("where", empty).value();
    EXPECT_TRUE(filter.takes_all());
    EXPECT_TRUE(Matches(filter, MakeLayout("tp1.pp1.dp1")));
    EXPECT_EQ(FormatFilter(filter), "");
  }
}

TEST(Filter, SaysWhereATextIsWrongAndWhatWouldBeAccepted) {
  const auto problem = [](const std::string& text) {
    const absl::Status status = ParseFilter("where", text).status();
    EXPECT_EQ(FieldOf(status), "where") << text;
    return std::string(status.message());
  };
  EXPECT_THAT(problem("tq = 8"),
              HasSubstr("at character 1 there is tq, where tp, cp, pp, dp, ep, etp, mb, vpp, zero, "
                        "sp, hs, rc or sched must be"));
  EXPECT_THAT(problem("tp 8"),
              HasSubstr("at character 4 there is 8, where =, !=, <, <=, >, >= or in must be"));
  EXPECT_THAT(problem("rc < full"), HasSubstr("at character 4 there is <, where =, != or in must"));
  EXPECT_THAT(problem("tp = x"), HasSubstr("at character 6 there is x, where a whole number must"));
  EXPECT_THAT(problem("tp = 99999999999999999999"), HasSubstr("a whole number must be"));
  EXPECT_THAT(problem("sched = gpip"),
              HasSubstr("at character 9 there is gpip, where gpipe, 1f1b, interleaved, "
                        "breadth_first, zb_h1 or zb_v must be"));
  EXPECT_THAT(problem("tp = 8 and"), HasSubstr("at character 11 the text ends, where tp, cp"));
  EXPECT_THAT(problem("tp = 8 pp = 2"),
              HasSubstr("at character 8 there is pp, where and, or, or the end must be"));
  EXPECT_THAT(problem("(tp = 8"), HasSubstr("at character 8 the text ends, where and, or, or )"));
  EXPECT_THAT(problem("tp in 8"), HasSubstr("at character 7 there is 8, where ( must be"));
  EXPECT_THAT(problem("tp in (8 4)"), HasSubstr("at character 10 there is 4, where a comma or )"));
  EXPECT_THAT(problem(std::string(100, '(') + "tp = 1"), HasSubstr("deeper than 12 parentheses"));
  EXPECT_THAT(problem(std::string(5000, ' ') + "tp = 1"), HasSubstr("longer than 4096"));
}

TEST(Filter, ReadsFixedValues) {
  EXPECT_EQ(ParseFixed("fix", "tp=8,rc=none").value(),
            ParseFilter("fix", "tp = 8 and rc = none").value());
  EXPECT_TRUE(ParseFixed("fix", "").value().takes_all());
  const absl::Status status = ParseFixed("fix", "tp=8 pp=4").status();
  EXPECT_EQ(FieldOf(status), "fix");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("at character 6 there is pp, where a comma or the end must be"));
  EXPECT_THAT(std::string(ParseFixed("fix", "tp<8").status().message()),
              HasSubstr("at character 3 there is <, where = must be"));
}

// Filters of random shape, printed and read again.
class RandomFilter {
 public:
  explicit RandomFilter(uint32_t seed) : random_(seed) {}

  Filter Make(int depth) {
    const size_t kind = depth == 0 ? 3 : Below(4);
    if (kind == 3) return Comparison();
    if (kind == 2) return {.kind = Filter::Kind::kNot, .parts = {Make(depth - 1)}};
    Filter joined = {.kind = kind == 0 ? Filter::Kind::kAll : Filter::Kind::kAny};
    for (size_t i = 0; i < 2 + Below(2); ++i) joined.parts.push_back(Make(depth - 1));
    return joined;
  }

 private:
  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  Filter Comparison() {
    Filter compare = {.kind = Filter::Kind::kCompare};
    compare.field = static_cast<FilterField>(Below(kFilterFieldNames.size()));
    const size_t words = FilterWords(compare.field).size();
    const auto value = [&] { return static_cast<int64_t>(Below(words == 0 ? 9 : words)); };
    compare.values.push_back(value());
    compare.comparison = static_cast<planner::Comparison>(Below(words == 0 ? 7 : 2));
    if (Below(3) != 0) return compare;
    compare.comparison = planner::Comparison::kIn;
    compare.values.push_back(value());
    return compare;
  }

  std::mt19937 random_;
};

TEST(Filter, ReadsWhatItPrints) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    const Filter filter = RandomFilter(seed).Make(4);
    const std::string text = FormatFilter(filter);
    const absl::StatusOr<Filter> read = ParseFilter("where", text);
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status();
    EXPECT_EQ(*read, filter) << "seed " << seed << ": " << text;
  }
}

TEST(Filter, PrintsParenthesesWhereTheyAreNeeded) {
  const auto printed = [](const char* text) {
    return FormatFilter(ParseFilter("where", text).value());
  };
  EXPECT_EQ(printed("(tp=1)or(tp=2 and(pp=2))"), "tp = 1 or tp = 2 and pp = 2");
  EXPECT_EQ(printed("(tp=1 or tp=2)and pp=2"), "(tp = 1 or tp = 2) and pp = 2");
  EXPECT_EQ(printed("tp=1 or(tp=2 or pp=2)"), "tp = 1 or (tp = 2 or pp = 2)");
  EXPECT_EQ(printed("not(tp=1 and pp=2)"), "not (tp = 1 and pp = 2)");
}

TEST(Filter, ReadsWhatItPrintsOfTheDeepest) {
  std::string text = "tp = 1 or tp = 2 and pp = 2";
  for (int depth = 1; depth < kMostFilterDepth; ++depth) {
    text.insert(0, depth % 2 == 1 ? "tp = 4 and (" : "tp = 1 or (").append(")");
  }
  const Filter filter = ParseFilter("where", text).value();
  const absl::StatusOr<Filter> again = ParseFilter("where", FormatFilter(filter));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, filter);
}

}  // namespace
}  // namespace meshwright::planner
