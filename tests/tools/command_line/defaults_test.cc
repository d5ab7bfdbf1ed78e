// Defaults that the environment and a configuration file give.
#include <filesystem>
#include <fstream>
#include <map>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"

namespace meshwright::command_line {
namespace {

using ::nlohmann::json;
using ::testing::HasSubstr;

class DefaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ + "/meshwright");
    variables_["XDG_CONFIG_HOME"] = folder_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Configure(const std::string& text) const { std::ofstream(File()) << text; }
  std::string File() const { return folder_ + "/meshwright/config.toml"; }

  cli::CommandOutput Run(const std::vector<std::string>& words) const {
    return cli::RunCommand(words, "/nonexistent", cli::kNeverInterrupted, {{}, "there is none"},
                           [this](const std::string& name) -> std::optional<std::string> {
                             const auto found = variables_.find(name);
                             if (found == variables_.end()) return std::nullopt;
                             return found->second;
                           });
  }

  const std::string folder_ = testing::TempDir() + "defaults-" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
  std::map<std::string, std::string> variables_;
};

const std::vector<std::string> kRecommend = {"recommend", "--gpus",  "8",
                                             "--seq-len", "4096",    "--global-batch",
                                             "8",         "--model", "llama-3-8b"};

TEST_F(DefaultsTest, ComeFromTheFileForOneCommand) {
  Configure(
      "[recommend]\ncluster = \"h100\"\ntop = 2\nformat = \"json\"\n[sweep.start]\ntrials = 3\n");
  const cli::CommandOutput run = Run(kRecommend);
  ASSERT_EQ(run.exit_code, cli::kExitOk) << run.err;
  EXPECT_EQ(json::parse(run.out)["layouts"].size(), 2u);
  EXPECT_THAT(Run({"recommend", "--help"}).out, HasSubstr("Layouts to show (default 2)"));
  EXPECT_THAT(Run({"estimate", "--help"}).out, HasSubstr("(default text)"));
  EXPECT_THAT(Run({"sweep", "start", "--help"}).out, HasSubstr("(default 3)"));
}

TEST_F(DefaultsTest, AFileWithoutAnEndIsRefused) {
  variables_["MESHWRIGHT_CONFIG"] = "/dev/zero";
  EXPECT_THAT(Run(kRecommend).err,
              HasSubstr("/dev/zero: a configuration file must be at most 1048576 bytes"));
}

TEST_F(DefaultsTest, AFlagComesBeforeTheEnvironmentAndThatBeforeTheFile) {
  const std::vector<std::string> list = {"list", "agents"};
  Configure("server = \"file\"\n");
  EXPECT_THAT(Run(list).err, HasSubstr(File() + ": server file: must be HOST:PORT"));
  variables_["MESHWRIGHT_SERVER"] = "environment";
  EXPECT_THAT(Run(list).err, HasSubstr("MESHWRIGHT_SERVER environment: must be HOST:PORT"));
  EXPECT_THAT(Run({"list", "agents", "--server", "flag"}).err,
              HasSubstr("--server flag: must be HOST:PORT"));
  // None at all: the presets of this program.
  EXPECT_EQ(Run({"list", "models", "--server", ""}).exit_code, cli::kExitOk);
  // What is empty counts as not set.
  variables_["MESHWRIGHT_SERVER"] = "";
  EXPECT_THAT(Run(list).err, HasSubstr("server file"));
}

TEST_F(DefaultsTest, MakeErrorsJsonToo) {
  variables_["MESHWRIGHT_FORMAT"] = "json";
  const cli::CommandOutput run = Run({"recommend", "--gpus", "x"});
  EXPECT_TRUE(json::parse(run.out, nullptr, false).contains("error")) << run.out;
}

TEST_F(DefaultsTest, AnUnknownKeyIsRefusedWithTheNearest) {
  Configure("sevrer = \"127.0.0.1:7077\"\n");
  cli::CommandOutput run = Run({"list", "models"});
  EXPECT_EQ(run.exit_code, cli::kExitBadInput);
  EXPECT_THAT(run.err, HasSubstr(File() + ": key 'sevrer' is not known; nearest: server"));
  Configure("[recommend]\nseq-length = 4096\n");
  run = Run({"list", "models"});
  EXPECT_THAT(run.err, HasSubstr("key 'recommend.seq-length' is not known; nearest: seq-len"));
  Configure("[recomend]\ntop = 1\n");
  run = Run({"list", "models"});
  EXPECT_THAT(run.err, HasSubstr("table 'recomend' is not known; nearest: recommend"));
  // A flag of one command is none of all.
  Configure("top = 1\n");
  run = Run({"list", "models"});
  EXPECT_THAT(run.err, HasSubstr("flags of one command stand in a table of its name"));
  EXPECT_EQ(Run({"--help"}).exit_code, cli::kExitOk);
}

TEST_F(DefaultsTest, AValueThatTheFlagDoesNotTakeIsRefused) {
  Configure("format = \"yaml\"\n");
  EXPECT_THAT(Run({"list", "models"}).err,
              HasSubstr(File() + ": format = yaml: must be text or json"));
  Configure("[recommend]\ntop = \"many\"\n");
  EXPECT_THAT(Run({"list", "models"}).err, HasSubstr("recommend.top = many: is not what --top"));
}

TEST_F(DefaultsTest, AnotherFileIsReadWhereItIsNamed) {
  Configure("format = \"yaml\"\n");
  variables_["MESHWRIGHT_CONFIG"] = "";
  EXPECT_EQ(Run({"list", "models"}).exit_code, cli::kExitOk);
  variables_["MESHWRIGHT_CONFIG"] = folder_ + "/none.toml";
  EXPECT_THAT(Run({"list", "models"}).err, HasSubstr("none.toml: cannot be read"));
}

TEST_F(DefaultsTest, ManPagesShowNoneOfThem) {
  Configure("[recommend]\ntop = 99\n");
  const std::string pages = folder_ + "/man";
  ASSERT_EQ(Run({"man", pages}).exit_code, cli::kExitOk);
  std::ifstream page(pages + "/meshwright-recommend.1");
  const std::string text((std::istreambuf_iterator<char>(page)), {});
  EXPECT_THAT(text, HasSubstr("Layouts to show (default 10)"));
}

}  // namespace
}  // namespace meshwright::command_line
