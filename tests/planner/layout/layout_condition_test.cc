#include "planner/layout/layout_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/text/field_error.h"
#include "planner/layout/condition_parser.h"
#include "planner/layout/keys.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

bool Takes(const char* condition, const char* layout) {
  return LayoutMatcher(ParseLayoutCondition("where", condition).value())
      .Matches(MakeLayout(layout));
}

TEST(LayoutCondition, ComparesEveryField) {
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

TEST(LayoutCondition, ComparesWordsAndTextsOfEveryForm) {
  const char* plain = "tp1.pp2.dp1";
  const char* layout = "tp1.pp2.dp1.attn=flash2.norm=fused.stages=17+15.offload=act:8+opt";
  for (const char* holds :
       {"attn = flash2", "attn != default", "attn in (flash1, flash2)", "norm = fused",
        "stages = 17+15", "stages != none", "stages in (none, 17+15)", "offload = act:8+opt",
        "offload != opt", "offload in (opt, act:8+opt)"}) {
    EXPECT_TRUE(Takes(holds, layout)) << holds;
  }
  for (const char* holds : {"attn = default", "norm = default", "stages = none", "offload = none",
                            "stages = none and offload = none and attn = default"}) {
    EXPECT_TRUE(Takes(holds, plain)) << holds;
    EXPECT_FALSE(Takes(holds, layout)) << holds;
  }
  EXPECT_TRUE(Takes("stages in (\"17+15\", none)", layout));
  // However a split is written, it is the same one.
  EXPECT_TRUE(Takes("stages = 8+8+8", "tp1.pp3.dp1.stages=3x8"));
  EXPECT_EQ(FormatLayoutCondition(ParseLayoutCondition("where", "stages = 8+8+8").value()),
            "stages = 3x8");
}

TEST(LayoutCondition, BindsAndMoreCloselyThanOr) {
  EXPECT_TRUE(Takes("tp = 1 or pp = 2 and dp = 9", "tp1.pp1.dp1"));
  EXPECT_FALSE(Takes("(tp = 1 or pp = 2) and dp = 9", "tp1.pp1.dp1"));
  EXPECT_TRUE(Takes("not tp = 2 and pp = 1", "tp1.pp1.dp1"));
  EXPECT_FALSE(Takes("not (tp = 2 or pp = 1)", "tp1.pp1.dp1"));
}

TEST(LayoutCondition, TakesEverythingWhenItIsEmpty) {
  for (const char* empty : {"", "  "}) {
    const Condition filter = ParseLayoutCondition("where", empty).value();
    EXPECT_TRUE(filter.holds_always());
    EXPECT_TRUE(LayoutMatcher(filter).Matches(MakeLayout("tp1.pp1.dp1")));
    EXPECT_EQ(FormatLayoutCondition(filter), "");
  }
}

TEST(LayoutCondition, SaysWhereATextIsWrongAndWhatWouldBeAccepted) {
  const auto problem = [](const std::string& text) {
    const absl::Status status = ParseLayoutCondition("where", text).status();
    EXPECT_EQ(FieldOf(status), "where") << text;
    return std::string(status.message());
  };
  EXPECT_THAT(problem("tq = 8"),
              HasSubstr("at character 1 there is tq, where tp, cp, pp, dp, ep, etp, mb, vpp, zero, "
                        "sp, rc, sched, attn, norm, hs, stages or offload must be"));
  EXPECT_THAT(problem("tp 8"),
              HasSubstr("at character 4 there is 8, where =, !=, <, <=, >, >= or in must be"));
  EXPECT_THAT(problem("rc < full"), HasSubstr("at character 4 there is <, where =, != or in must"));
  EXPECT_THAT(problem("tp = x"), HasSubstr("at character 6 there is x, where a whole number must"));
  EXPECT_THAT(problem("tp = 99999999999999999999"), HasSubstr("a whole number must be"));
  EXPECT_THAT(problem("sched = gpip"),
              HasSubstr("at character 9 there is gpip, where gpipe, 1f1b, interleaved, "
                        "breadth_first, zb_h1, zb_v, zb_h2, v_half, 1f1b_vocab1, 1f1b_vocab2, "
                        "1f1b_interlaced or v_half_vocab1 must be"));
  EXPECT_THAT(problem("stages < 17+15"), HasSubstr("where =, != or in must be"));
  EXPECT_THAT(
      problem("stages = 17-15"),
      HasSubstr("at character 10 there is 17-15, where none or layers of each virtual stage "
                "such as 1+30x2+0 must be"));
  EXPECT_THAT(problem("stages = \"17-15\""), HasSubstr("at character 10 there is \""));
  EXPECT_THAT(problem("stages = \"17+15"), HasSubstr("where a text that ends with a double quote"));
  EXPECT_THAT(problem("offload ="),
              HasSubstr("the text ends, where none or act:N, opt or act:N+opt must be"));
  EXPECT_THAT(problem("attn = flash9"), HasSubstr("where default, flash4, flash3, flash2"));
  EXPECT_THAT(problem("tp = 8 and"), HasSubstr("at character 11 the text ends, where tp, cp"));
  EXPECT_THAT(problem("tp = 8 pp = 2"),
              HasSubstr("at character 8 there is pp, where and, or, or the end must be"));
  EXPECT_THAT(problem("(tp = 8"), HasSubstr("at character 8 the text ends, where and, or, or )"));
  EXPECT_THAT(problem("tp in 8"), HasSubstr("at character 7 there is 8, where ( must be"));
  EXPECT_THAT(problem("tp in (8 4)"), HasSubstr("at character 10 there is 4, where a comma or )"));
  EXPECT_THAT(problem(std::string(100, '(') + "tp = 1"), HasSubstr("deeper than 12 parentheses"));
  EXPECT_THAT(problem(std::string(5000, ' ') + "tp = 1"), HasSubstr("longer than 4096"));
}

TEST(LayoutCondition, ReadsFixedValues) {
  EXPECT_EQ(ParseFixed("fix", "tp=8,rc=none").value(),
            ParseLayoutCondition("fix", "tp = 8 and rc = none").value());
  EXPECT_EQ(ParseFixed("fix", "stages=17+15,offload=none").value(),
            ParseLayoutCondition("fix", "stages = 17+15 and offload = none").value());
  EXPECT_TRUE(ParseFixed("fix", "").value().holds_always());
  const absl::Status status = ParseFixed("fix", "tp=8 pp=4").status();
  EXPECT_EQ(FieldOf(status), "fix");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("at character 6 there is pp, where a comma or the end must be"));
  EXPECT_THAT(std::string(ParseFixed("fix", "tp<8").status().message()),
              HasSubstr("at character 3 there is <, where = must be"));
}

// Conditions of random shape, printed and read again.
class RandomCondition {
 public:
  explicit RandomCondition(uint32_t seed) : random_(seed) {}

  Condition Make(int depth) {
    const size_t form = depth == 0 ? 3 : Below(4);
    if (form == 3) return Compare();
    if (form == 2) return {.form = ConditionForm::kNot, .parts = {Make(depth - 1)}};
    Condition joined = {.form = form == 0 ? ConditionForm::kAll : ConditionForm::kAny};
    for (size_t i = 0; i < 2 + Below(2); ++i) joined.parts.push_back(Make(depth - 1));
    return joined;
  }

 private:
  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  ConditionValue ValueOf(const ConditionField& field) {
    if (field.type == ValueType::kWhole) return static_cast<int64_t>(Below(9));
    if (field.type == ValueType::kWord) return static_cast<int64_t>(Below(field.words.size()));
    if (Below(3) == 0) return std::string("none");
    return std::string(field.name == "stages" ? "17+15" : "act:8+opt");
  }

  Condition Compare() {
    Condition compare = {.form = ConditionForm::kCompare};
    compare.field = Below(LayoutFields().size());
    const ConditionField& field = LayoutFields()[compare.field];
    compare.values.push_back(ValueOf(field));
    compare.comparison = static_cast<Comparison>(Below(field.has_order() ? 7 : 2));
    if (Below(3) != 0) return compare;
    compare.comparison = Comparison::kIn;
    compare.values.push_back(ValueOf(field));
    return compare;
  }

  std::mt19937 random_;
};

TEST(LayoutCondition, ReadsWhatItPrints) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    const Condition filter = RandomCondition(seed).Make(4);
    const std::string text = FormatLayoutCondition(filter);
    const absl::StatusOr<Condition> read = ParseLayoutCondition("where", text);
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status();
    EXPECT_EQ(*read, filter) << "seed " << seed << ": " << text;
  }
}

TEST(LayoutCondition, PrintsParenthesesWhereTheyAreNeeded) {
  const auto printed = [](const char* text) {
    return FormatLayoutCondition(ParseLayoutCondition("where", text).value());
  };
  EXPECT_EQ(printed("(tp=1)or(tp=2 and(pp=2))"), "tp = 1 or tp = 2 and pp = 2");
  EXPECT_EQ(printed("(tp=1 or tp=2)and pp=2"), "(tp = 1 or tp = 2) and pp = 2");
  EXPECT_EQ(printed("tp=1 or(tp=2 or pp=2)"), "tp = 1 or (tp = 2 or pp = 2)");
  EXPECT_EQ(printed("not(tp=1 and pp=2)"), "not (tp = 1 and pp = 2)");
}

TEST(LayoutCondition, ReadsWhatItPrintsOfTheDeepest) {
  std::string text = "tp = 1 or tp = 2 and pp = 2";
  for (int depth = 1; depth < kMostFilterDepth; ++depth) {
    text.insert(0, depth % 2 == 1 ? "tp = 4 and (" : "tp = 1 or (").append(")");
  }
  const Condition filter = ParseLayoutCondition("where", text).value();
  const absl::StatusOr<Condition> again =
      ParseLayoutCondition("where", FormatLayoutCondition(filter));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, filter);
}

}  // namespace
}  // namespace meshwright::planner
