#include "planner/interchange/name_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"
#include "planner/interchange/framework.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NameTable, SpellsWordsNumbersAndSilence) {
  const NameRow row = {.name = "--vpp", .setting = "vpp", .words = "1- 2=two *"};
  EXPECT_EQ(*Spell(row, "1"), std::nullopt);
  EXPECT_EQ(*Spell(row, "2"), "two");
  EXPECT_EQ(*Spell(row, "3"), "3");
  EXPECT_THAT(Meanings(row, "TWO"), ElementsAre("2"));
  EXPECT_THAT(Meanings(row, "4"), ElementsAre("4"));
  EXPECT_THAT(UnsaidMeanings(row), ElementsAre("1"));
}

TEST(NameTable, RefusesAValueWithoutAWord) {
  const NameRow row = {.name = "ac", .setting = "rc", .words = "full=true none- none=false"};
  const auto spelt = Spell(row, "selective");
  EXPECT_EQ(FieldOf(spelt.status()), "rc");
  EXPECT_EQ(spelt.status().message(),
            "rc = selective: ac has no value for it; must be full or none");
  EXPECT_THAT(Meanings(row, "maybe"), IsEmpty());
}

TEST(NameTable, FindsANameWithOrWithoutHyphensAndTheLongestStar) {
  const NameRow rows[] = {{.name = "--lr*", .hint = "a"},
                          {.name = "--lr-decay-*", .hint = "b"},
                          {.name = "--micro-batch-size", .setting = "mb"}};
  const NameTable table = rows;
  const NameTable tables[] = {table};
  EXPECT_EQ(FindRow(tables, "micro_batch_size"), &rows[2]);
  EXPECT_EQ(FindRow(tables, "--lr"), &rows[0]);
  EXPECT_EQ(FindRow(tables, "--lr-decay-iters"), &rows[1]);
  EXPECT_EQ(FindRow(tables, "--min-lr"), nullptr);
}

TEST(NameTable, JoinsLinesOfFlags) {
  const NameRow rows[] = {{.name = "--a", .setting = "tp"},
                          {.name = "--b", .setting = "zero", .words = "0- 1=", .joins = true},
                          {.name = "--c", .setting = "pp", .joins = true},
                          {.name = "--d", .setting = "cp"}};
  Settings settings;
  settings.Set("tp", 2);
  settings.Set("zero", 0);
  settings.Set("pp", 4);
  settings.Set("cp", 1);
  EXPECT_THAT(FlagLines(rows, *SpellAll(rows, settings)),
              ElementsAre(ElementsAre("--a", "2", "--c", "4"), ElementsAre("--d", "1")));
}

class TablesOfNames : public testing::TestWithParam<const Framework*> {};

TEST_P(TablesOfNames, NameSettingsThatExist) {
  for (const NameTable table : GetParam()->tables) {
    for (const NameRow& row : table) {
      EXPECT_TRUE(row.setting.empty() || IsSetting(row.setting)) << row.name;
      EXPECT_TRUE(row.when.empty() || IsSetting(row.when)) << row.name;
      // A name that is ignored or refused has a reason.
      EXPECT_TRUE(!row.setting.empty() || row.use == NameUse::kExport || !row.hint.empty() ||
                  row.effect == NameEffect::kFile)
          << row.name;
    }
  }
}

TEST_P(TablesOfNames, ReadEachNameInOneWay) {
  for (const NameTable table : GetParam()->tables) {
    std::set<std::string_view> names;
    for (const NameRow& row : table) {
      if (row.use == NameUse::kExport) continue;
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
    }
  }
}

// What an export writes, an import knows.
TEST_P(TablesOfNames, KnowWhatTheyWrite) {
  const Framework& framework = *GetParam();
  for (const NameRow& row : framework.tables[0]) {
    if (row.use != NameUse::kExport || row.setting == "hybrid_pattern") continue;
    if (row.name == "--spec") continue;  // a hybrid's
    const NameRow* read = FindRow(framework.tables, row.name);
    EXPECT_NE(read, nullptr) << row.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, TablesOfNames, testing::ValuesIn(Frameworks()),
                         [](const auto& test) {
                           std::string name(test.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace meshwright::planner
