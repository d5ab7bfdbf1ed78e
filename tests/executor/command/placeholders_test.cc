#include "executor/command/placeholders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"

namespace meshwright::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PlaceholdersTest, WholeWordsBecomeArgumentsAndInnerOnesParts) {
  EXPECT_THAT(Substitute({"run", "{args}", "--n={ranks}", "{folder}/x-{port}", "{data}"},
                         {{"args", {"--a", "b c"}}, {"data", {"/d"}}},
                         {{"ranks", "4"}, {"folder", "/f"}, {"port", "80"}}),
              ElementsAre("run", "--a", "b c", "--n=4", "/f/x-80", "/d"));
}

TEST(PlaceholdersTest, NoWordsGiveNoArgument) {
  EXPECT_THAT(Substitute({"run", "{args}"}, {{"args", {}}}, {}), ElementsAre("run"));
}

TEST(PlaceholdersTest, AValueIsNeverReadForPlaceholders) {
  EXPECT_THAT(Substitute({"run", "{data}", "{args}"},
                         {{"data", {"{args}"}}, {"args", {"{data}", "{port}"}}}, {}),
              ElementsAre("run", "{args}", "{data}", "{port}"));
}

TEST(PlaceholdersTest, OtherBracesAreText) {
  const std::vector<std::string> argv = {"run", R"({"a": {"b": 1}})", "{}", "{ x }", "{", "a{"};
  EXPECT_TRUE(CheckPlaceholders("argv", argv, {}).ok());
  EXPECT_EQ(Substitute(argv, {}, {}), argv);
}

TEST(PlaceholdersTest, EveryLayoutKeyIsAPlaceholder) {
  EXPECT_TRUE(
      CheckPlaceholders("argv", {"run", "{tp}", "--zero={zero}", "{rc}", "{stages}"}, {}).ok());
}

TEST(PlaceholdersTest, WrongPlaceholdersAreNamed) {
  const absl::Status unknown = CheckPlaceholders("argv", {"run", "x", "{rank}"}, {"args"});
  EXPECT_EQ(FieldOf(unknown), "argv[2]");
  EXPECT_THAT(unknown.message(), HasSubstr("known are args, ranks"));
  EXPECT_THAT(CheckPlaceholders("argv", {"run", "--x={args}"}, {"args"}).message(),
              HasSubstr("an argument of its own"));
  EXPECT_THAT(CheckPlaceholders("argv", {"{folder}/run"}, {}).message(),
              HasSubstr("must be a program"));
  EXPECT_TRUE(CheckPlaceholders("argv", {"{runner_folder}/run"}, {}).ok());
}

}  // namespace
}  // namespace meshwright::command
