#include "executor/command/field_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/text/field_error.h"

namespace meshwright::command {
namespace {

using ::testing::HasSubstr;

// What someone who wants to run a command of his own would try.
std::vector<std::string> HostileValues() {
  std::vector<std::string> values = {"",
                                     " ",
                                     ";",
                                     "; rm -rf /",
                                     "$(id)",
                                     "`id`",
                                     "|id",
                                     "&& id",
                                     "|| id",
                                     "> /etc/passwd",
                                     "< /x",
                                     "\n",
                                     "a\nb",
                                     "4\n",
                                     "\t4",
                                     "4 ",
                                     " 4",
                                     "+4",
                                     "04",
                                     "4.0",
                                     "4e0",
                                     "0x4",
                                     "-4",
                                     "-1",
                                     "--config=/etc/passwd",
                                     "-c",
                                     "--",
                                     "-",
                                     "../",
                                     "..",
                                     "../../etc/passwd",
                                     "/etc/passwd",
                                     "/etc/",
                                     "/",
                                     "./../x",
                                     "data/../../secret",
                                     "$HOME",
                                     "${HOME}",
                                     "~",
                                     "~root",
                                     "*",
                                     "?",
                                     "[a]",
                                     "{args}",
                                     "{folder}",
                                     "%s%s%n",
                                     "99999999999999999999",
                                     "9",
                                     "0",
                                     "word2",
                                     "WORD",
                                     "word\r",
                                     "'",
                                     "\"",
                                     "\\",
                                     "link/secret",
                                     "link",
                                     "\xff\xfe",
                                     "é"};
  values.push_back(std::string("4\0--evil", 8));
  values.push_back(std::string(5000, 'a'));
  return values;
}

// A folder with data/train.bin, and a link in it to a folder beside it.
class FieldRuleTest : public ::testing::Test {
 protected:
  FieldRuleTest() {
    char name[] = "/tmp/field-rule-XXXXXX";
    root_ = ::mkdtemp(name);
    std::filesystem::create_directories(root_ / "data/inner");
    std::filesystem::create_directories(root_ / "outside");
    std::ofstream(root_ / "data/train.bin") << "x";
    std::ofstream(root_ / "outside/secret") << "x";
    std::filesystem::create_directory_symlink(root_ / "outside", root_ / "data/link");
    std::filesystem::create_directory_symlink(root_ / "data/inner", root_ / "data/own");
  }
  ~FieldRuleTest() override { std::filesystem::remove_all(root_); }

  std::filesystem::path root_;
};

TEST_F(FieldRuleTest, HostileValuesAreRefusedByEveryRule) {
  const std::vector<std::string> values = HostileValues();
  ASSERT_GE(values.size(), 50U);
  const FieldRule rules[] = {
      {.from = 1, .to = 8}, {.words = {"word", "other"}}, {.below = (root_ / "data").string()}};
  for (const FieldRule& rule : rules) {
    for (const std::string& value : values) {
      const absl::StatusOr<std::string> checked = FieldValue("f", rule, value);
      EXPECT_FALSE(checked.ok()) << AcceptedBy(rule) << " took " << value;
      EXPECT_EQ(FieldOf(checked.status()), "f");
    }
  }
}

TEST_F(FieldRuleTest, AllowedValuesAreTaken) {
  EXPECT_EQ(FieldValue("f", {.from = 1, .to = 8}, "4").value(), "4");
  EXPECT_EQ(FieldValue("f", {.from = 0, .to = 0}, "0").value(), "0");
  EXPECT_EQ(FieldValue("f", {.words = {"a", "b"}}, "b").value(), "b");
}

TEST_F(FieldRuleTest, APathIsAbsoluteAndHasNoLinks) {
  const FieldRule rule{.below = (root_ / "data").string()};
  const std::string folder = std::filesystem::canonical(root_).string();
  EXPECT_EQ(FieldValue("f", rule, "train.bin").value(), folder + "/data/train.bin");
  EXPECT_EQ(FieldValue("f", rule, folder + "/data/train.bin").value(), folder + "/data/train.bin");
  EXPECT_EQ(FieldValue("f", rule, "own").value(), folder + "/data/inner");
  EXPECT_THAT(FieldValue("f", rule, "absent").status().message(),
              HasSubstr("must be the path of something that exists below"));
}

TEST_F(FieldRuleTest, ARuleHasOneForm) {
  EXPECT_TRUE(CheckRule("r", {.from = 0, .to = 3}).ok());
  EXPECT_TRUE(CheckRule("r", {.words = {"a"}}).ok());
  EXPECT_TRUE(CheckRule("r", {.below = "/data"}).ok());
  EXPECT_FALSE(CheckRule("r", {}).ok());
  EXPECT_FALSE(CheckRule("r", {.from = 0, .to = 3, .words = {"a"}}).ok());
  EXPECT_FALSE(CheckRule("r", {.from = 3, .to = 0}).ok());
  EXPECT_FALSE(CheckRule("r", {.from = 3}).ok());
  EXPECT_FALSE(CheckRule("r", {.from = -3, .to = 3}).ok());
  EXPECT_FALSE(CheckRule("r", {.words = {"-flag"}}).ok());
  EXPECT_FALSE(CheckRule("r", {.words = {""}}).ok());
  EXPECT_FALSE(CheckRule("r", {.below = "data"}).ok());
}

}  // namespace
}  // namespace meshwright::command
