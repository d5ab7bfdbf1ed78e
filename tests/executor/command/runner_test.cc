#include "executor/command/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"

namespace meshwright::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kPlain[] =
    R"({"name": "r", "framework": "megatron", "argv": ["run", "{args}"], "export": "megatron"})";

// Returns the field and the message of the error.
std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<Runner> runner = ParseRunner(text, "/folder");
  EXPECT_FALSE(runner.ok()) << text;
  return absl::StrCat(FieldOf(runner.status()), " | ", runner.status().message());
}

std::string With(const std::string& key, const std::string& value) {
  return absl::StrCat(R"({"name": "r", "framework": "megatron", "argv": ["run"], ")", key,
                      "\": ", value, "}");
}

TEST(RunnerTest, ARunnerIsReadWithItsHash) {
  const absl::StatusOr<Runner> runner = ParseRunner(kPlain, "/folder");
  ASSERT_TRUE(runner.ok()) << runner.status();
  EXPECT_EQ(runner->name, "r");
  EXPECT_EQ(runner->folder, "/folder");
  EXPECT_EQ(runner->hash.size(), 64U);
  EXPECT_EQ(runner->warm_up_steps, 1);
  EXPECT_NE(ParseRunner(absl::StrCat(kPlain, " "), "/folder")->hash, runner->hash);
}

TEST(RunnerTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr("runner"));
  EXPECT_THAT(ErrorOf(R"({"name": "r"})"), HasSubstr("argv"));
  EXPECT_THAT(ErrorOf(With("naem", "1")), HasSubstr("name"));
  EXPECT_THAT(ErrorOf(With("export", R"("keras")")), HasSubstr("export |"));
  EXPECT_THAT(ErrorOf(With("log", R"("keras")")), HasSubstr("log |"));
  EXPECT_THAT(ErrorOf(With("log", "[]")), HasSubstr("log |"));
  EXPECT_THAT(ErrorOf(With("log", R"({"step_s": "("})")), HasSubstr("log.step_s |"));
  EXPECT_THAT(ErrorOf(With("warm_up_steps", "0")), HasSubstr("warm_up_steps |"));
  EXPECT_THAT(ErrorOf(With("fields", R"({"data": {}})")), HasSubstr("fields.data |"));
  EXPECT_THAT(ErrorOf(With("fields", R"({"port": {"from": 0, "to": 1}})")),
              HasSubstr("must not be the name of a built-in placeholder"));
  EXPECT_THAT(ErrorOf(With("fields", R"({"args": {"from": 0, "to": 1}})")),
              HasSubstr("fields.args"));
  EXPECT_THAT(ErrorOf(R"({"name": "a b", "framework": "megatron", "argv": ["x"]})"),
              HasSubstr("name |"));
  EXPECT_THAT(ErrorOf(R"({"name": "a", "framework": "keras", "argv": ["x"]})"),
              HasSubstr("framework |"));
  EXPECT_THAT(ErrorOf(R"({"name": "a", "framework": "megatron", "argv": []})"),
              HasSubstr("argv |"));
}

TEST(RunnerTest, ACommandRunsOnSeveralNodesIfItIsToldItsNodeAndWhereTheyMeet) {
  const auto runs = [](const std::string& argv) {
    return RunsOnSeveralNodes(*ParseRunner(
        absl::StrCat(R"({"name": "r", "framework": "megatron", "argv": )", argv, "}"), "/"));
  };
  EXPECT_TRUE(runs(R"(["run", "--rank={node}", "--at={address}:{port}"])"));
  EXPECT_FALSE(runs(R"(["run", "--nodes={nodes}", "--at={address}:{port}"])"));
  EXPECT_FALSE(runs(R"(["run", "--rank={node}", "--at={address}"])"));
  EXPECT_FALSE(runs(R"(["run", "--rank={node}", "--port={port}"])"));
}

TEST(RunnerTest, OnlyTheCommandOfASliceIsToldItsRank) {
  const std::string alone = R"({"argv": ["run", "{rank}"], "environment": {"RANK": "{rank}"}})";
  const absl::StatusOr<Runner> runner = ParseRunner(With("slice", alone), "/");
  ASSERT_TRUE(runner.ok()) << runner.status();
  EXPECT_EQ(SliceRunner(*runner).argv.back(), "{rank}");
  EXPECT_EQ(SliceRunner(*runner).environment.count("RANK"), 1u);
  EXPECT_THAT(ErrorOf(With("environment", R"({"RANK": "{rank}"})")), HasSubstr("environment.RANK"));
  EXPECT_THAT(ErrorOf(With("slice", R"({"argv": []})")), HasSubstr("slice.argv |"));
  EXPECT_THAT(ErrorOf(With("slice", R"({"argv": ["run", "{args}"]})")), HasSubstr("slice.argv[1]"));
  EXPECT_THAT(ErrorOf(With("slice", R"({"argv": ["run"], "environment": {"MESHWRIGHT_X": "1"}})")),
              HasSubstr("slice.environment"));
  EXPECT_THAT(ErrorOf(With("slice", R"({"environment": {}})")), HasSubstr("slice.argv"));
  EXPECT_THAT(ErrorOf(With("fields", R"({"rank": {"from": 0, "to": 1}})")),
              HasSubstr("fields.rank"));
  EXPECT_TRUE(ParseRunner(With("slice", R"({"argv": ["run", "--rank={rank}"]})"), "/").ok());
}

TEST(RunnerTest, MeshwrightsOwnVariablesAreNeverPassed) {
  EXPECT_THAT(ErrorOf(With("pass", R"(["MESHWRIGHT_TOKEN"])")), HasSubstr("pass |"));
  EXPECT_THAT(ErrorOf(With("pass", R"(["A=B"])")), HasSubstr("pass |"));
  EXPECT_THAT(ErrorOf(With("environment", R"({"MESHWRIGHT_X": "1"})")), HasSubstr("environment |"));
  EXPECT_THAT(ErrorOf(With("environment", R"({"X": "{data}"})")), HasSubstr("environment.X"));
}

TEST(RunnerTest, TheFilesThatAreShippedAreRunners) {
  const std::filesystem::path folder =
      std::filesystem::path(std::getenv("MESHWRIGHT_SOURCE_DIR")) / "tools/runners";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const absl::StatusOr<Runner> runner = ParseRunner(text, folder.string());
    ASSERT_TRUE(runner.ok()) << entry.path() << runner.status();
    EXPECT_EQ(runner->name + ".json", entry.path().filename());
    ++files;
  }
  EXPECT_GE(files, 6);
}

class RunnerFileTest : public ::testing::Test {
 protected:
  RunnerFileTest() {
    char name[] = "/tmp/runner-file-XXXXXX";
    folder_ = ::mkdtemp(name);
    path_ = folder_ + "/r.json";
    std::ofstream(path_) << kPlain;
    ::chmod(path_.c_str(), 0644);
  }
  ~RunnerFileTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::string path_;
};

TEST_F(RunnerFileTest, AFileThatOnlyItsOwnerMayWriteIsRead) {
  const absl::StatusOr<Runner> runner = ReadRunner(path_);
  ASSERT_TRUE(runner.ok()) << runner.status();
  EXPECT_EQ(runner->folder, folder_);
}

TEST_F(RunnerFileTest, AFileThatOthersMayWriteIsRefused) {
  for (const mode_t mode : {0664, 0646}) {
    ::chmod(path_.c_str(), mode);
    EXPECT_EQ(ReadRunner(path_).status().code(), absl::StatusCode::kPermissionDenied);
  }
}

TEST_F(RunnerFileTest, AFolderThatOthersMayWriteIsRefused) {
  for (const mode_t mode : {0770, 0707, 01777}) {
    ::chmod(folder_.c_str(), mode);
    const absl::Status status = ReadRunner(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(status.message(), HasSubstr(folder_));
  }
}

TEST_F(RunnerFileTest, ALinkIsFollowedAndItsOwnFolderCounts) {
  const std::string other = folder_ + "/links";
  std::filesystem::create_directory(other);
  std::filesystem::create_symlink(path_, other + "/link.json");
  EXPECT_TRUE(ReadRunner(other + "/link.json").ok());
  ::chmod(other.c_str(), 0777);
  EXPECT_EQ(ReadRunner(other + "/link.json").status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(RunnerFileTest, WhatIsNoFileIsRefused) {
  EXPECT_EQ(ReadRunner(folder_ + "/absent").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadRunner(folder_).ok());
  std::ofstream(path_) << std::string(kMaxRunnerBytes + 1, ' ');
  EXPECT_FALSE(ReadRunner(path_).ok());
}

TEST(RunnerOfCommandTest, WordsAreSplitAsAShellDoesAndNothingIsExpanded) {
  const absl::StatusOr<Runner> runner = RunnerOfCommand(
      "torchrun --nproc-per-node {ranks} 'my train.py' {args}", "megatron", "megatron", "json", {});
  ASSERT_TRUE(runner.ok()) << runner.status();
  EXPECT_THAT(runner->argv,
              ElementsAre("torchrun", "--nproc-per-node", "{ranks}", "my train.py", "{args}"));
  EXPECT_FALSE(RunnerOfCommand("a; b", "megatron", "", "json", {}).ok());
  EXPECT_FALSE(RunnerOfCommand("a $HOME", "megatron", "", "json", {}).ok());
  EXPECT_FALSE(RunnerOfCommand("", "megatron", "", "json", {}).ok());
  EXPECT_FALSE(RunnerOfCommand("a 'b", "megatron", "", "json", {}).ok());
  EXPECT_FALSE(RunnerOfCommand("a \"$HOME\"", "megatron", "", "json", {}).ok());
  EXPECT_THAT(
      RunnerOfCommand(R"(sh -c 'exit $1; "x"' "a b" '' c\ d)", "megatron", "", "json", {})->argv,
      ElementsAre("sh", "-c", "exit $1; \"x\"", "a b", "", "c d"));
}

}  // namespace
}  // namespace meshwright::command
