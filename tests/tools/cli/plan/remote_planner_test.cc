// A server gives the answers that the command line gives alone, to the letter.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "base/text/json_text.h"
#include "db/sqlite_store.h"
#include "server/server.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

class RemotePlannerTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/remote-planner-" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    auto store = db::SqliteSweepStore::Open(folder_ + "/sweeps.db");
    ASSERT_TRUE(store.ok()) << store.status();
    server::ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.host_cores = 2;  // as the commands' own
    options.version = "test";
    options.clock = absl::Now;
    auto server = server::Server::Start(*std::move(store), std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void ExpectSame(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", GetParam()});
    const CommandOutput local = RunCommand(arguments);
    arguments.insert(arguments.end(), {"--server", server_->address()});
    const CommandOutput remote = RunCommand(arguments);
    EXPECT_EQ(remote.exit_code, local.exit_code) << remote.err;
    EXPECT_EQ(remote.out, local.out);
  }

  static std::vector<std::string> Ask(const char* command, std::vector<std::string> more) {
    std::vector<std::string> arguments = {command, "--model",        "llama-3-70b", "--cluster",
                                          "h100",  "--gpus",         "64",          "--seq-len",
                                          "4096",  "--global-batch", "512"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::string folder_;
  std::unique_ptr<server::Server> server_;
};

TEST_P(RemotePlannerTest, ListsPresets) {
  for (const char* kind : {"models", "clusters", "profiles"}) ExpectSame({"list", kind});
}

TEST_P(RemotePlannerTest, Recommends) { ExpectSame(Ask("recommend", {"--top", "3"})); }

TEST_P(RemotePlannerTest, RecommendsByRisk) {
  ExpectSame(Ask("recommend", {"--max-oom-probability", "0.1"}));
}

TEST_P(RemotePlannerTest, RecommendsWhatAConditionTakes) {
  ExpectSame(Ask("recommend", {"--where", "tp <= 4 and not sched = 1f1b"}));
  ExpectSame(Ask("recommend", {"--where", "tp ~ 4"}));
  ExpectSame(Ask("recommend", {"--fix", "pp=4", "--time-limit", "1000"}));
}

TEST_P(RemotePlannerTest, RanksByAnObjective) {
  ExpectSame(Ask("recommend", {"--objective", "memory", "--top", "2"}));
  ExpectSame(Ask("recommend",
                 {"--objective", "energy", "--pareto", "mfu,memory", "--best-per", "tp,sched"}));
  ExpectSame(Ask("recommend", {"--pareto", "mfu,cost"}));
  ExpectSame(Ask("recommend", {"--best-per", "width"}));
  std::vector<std::string> range = Ask("recommend", {"--objective", "cost"});
  range[6] = "16..64";
  ExpectSame(range);
}

TEST_P(RemotePlannerTest, SearchesOptions) {
  ExpectSame(
      Ask("recommend", {"--search", "loss=plain,chunked:8", "--search", "states", "--best-per",
                        "states", "--mine", "tp8.pp1.dp8.mb1.zero1.sp1 loss=chunked:4"}));
  ExpectSame(Ask("recommend", {"--search", "loss=chunked"}));
}

TEST_P(RemotePlannerTest, PlacesMyOwnLayout) {
  for (const char* mine :
       {"tp8.pp4.dp2.mb1.zero1.sp1", "tp4.pp4.dp4.mb2.zero1.sp1", "tp3.pp4.dp2", "no layout"}) {
    ExpectSame(Ask("recommend", {"--top", "1", "--mine", mine}));
  }
}

TEST_P(RemotePlannerTest, Compares) {
  ExpectSame(
      Ask("compare", {"tp8.pp4.dp2.mb1.zero1.sp1", "tp4.pp4.dp4.mb2.zero1.sp1", "tp3.pp4.dp2"}));
  ExpectSame(Ask("compare", {"no layout"}));
}

TEST_P(RemotePlannerTest, StudiesChoices) {
  ExpectSame(Ask("study", {}));
  ExpectSame(Ask("study", {"--where", "zero = 1"}));
}

TEST_P(RemotePlannerTest, LooksForTheShortest) {
  std::vector<std::string> shortest = {"fastest", "--model",  "llama-2-7b", "--cluster",
                                       "h100",    "--gpus",   "8..16",      "--seq-len",
                                       "4096",    "--tokens", "1T",         "--critical-batch",
                                       "16",      "--where",  "tp = 1"};
  ExpectSame(shortest);
  shortest.insert(shortest.end(), {"--overlap", "0"});
  ExpectSame(shortest);
  shortest[12] = "0";
  ExpectSame(shortest);
}

TEST_P(RemotePlannerTest, FindsWhatFits) {
  ExpectSame(Ask("fit", {"--where", "tp = 8"}));
  ExpectSame(Ask("fit", {"--layout", "tp8.pp4.dp2.mb1.zero1.sp1", "--max-oom-probability", "0.3"}));
  ExpectSame(Ask("fit", {"--layout", "no layout"}));
}

TEST_P(RemotePlannerTest, LooksAtSizes) {
  std::vector<std::string> range = Ask("scale", {"--strong"});
  range[6] = "8..64";
  ExpectSame(range);
  range = Ask("recommend", {"--tokens", "1T", "--within", "900d", "--price", "2.5/h"});
  range[6] = "16..64";
  ExpectSame(range);
}

TEST_P(RemotePlannerTest, ExplainsALayoutThatFits) {
  ExpectSame(Ask("estimate", {"--layout", "tp8.pp4.dp2.mb1.zero1.sp1"}));
}

TEST_P(RemotePlannerTest, ExplainsALayoutThatDoesNotFit) {
  ExpectSame(Ask("estimate", {"--layout", "tp4.pp4.dp4.mb2.zero1.sp1"}));
}

TEST_P(RemotePlannerTest, RefusesARiskOutOfRange) {
  ExpectSame(Ask("recommend", {"--max-oom-probability", "2"}));
}

// Limits are the same on both sides.
TEST_P(RemotePlannerTest, RefusesMoreLayoutsThanItLists) {
  ExpectSame(Ask("recommend", {"--top", "1001"}));
}

TEST_P(RemotePlannerTest, RefusesASearchSpaceThatIsTooLarge) {
  std::vector<std::string> arguments = Ask("recommend", {"--framework", "meshwright"});
  *std::find(arguments.begin(), arguments.end(), "64") = "720720";
  *std::find(arguments.begin(), arguments.end(), "512") = "65536";
  ExpectSame(arguments);
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, kExitBadInput);
  EXPECT_NE(run.err.find("must be at most 100000000"), std::string::npos) << run.err;
}

TEST_P(RemotePlannerTest, RefusesAModelFileThatIsTooLong) {
  const std::string file = folder_ + "/config.json";
  std::ofstream(file) << std::string(kMaxSpecBytes + 1, ' ');
  std::vector<std::string> arguments = Ask("recommend", {});
  *std::find(arguments.begin(), arguments.end(), "llama-3-70b") = file;
  ExpectSame(arguments);
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, kExitBadInput);
  EXPECT_NE(run.err.find("has 4194305 bytes; must be at most 4194304"), std::string::npos)
      << run.err;
}

TEST_P(RemotePlannerTest, OutlivesAModelFileThatIsNestedTooDeep) {
  const std::string file = folder_ + "/config.json";
  std::ofstream(file) << "{\"hidden_size\": " << std::string(80'000, '[')
                      << std::string(80'000, ']') << "}";
  std::vector<std::string> arguments = Ask("recommend", {});
  *std::find(arguments.begin(), arguments.end(), "llama-3-70b") = file;
  ExpectSame(arguments);
  EXPECT_EQ(RunCommand(arguments).exit_code, kExitBadInput);
}

TEST_P(RemotePlannerTest, CtrlCEndsASearch) {
  const std::atomic<bool> interrupted{true};
  for (const auto& command :
       {Ask("recommend", {}), Ask("estimate", {"--layout", "tp8.pp4.dp2.sp1"})}) {
    std::vector<std::string> remote = command;
    remote.insert(remote.end(), {"--server", server_->address()});
    for (const auto& arguments : {command, remote}) {
      EXPECT_EQ(RunCommand(arguments, "/nonexistent", interrupted).exit_code, kExitInterrupted);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RemotePlannerTest, testing::Values("text", "json"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace meshwright::cli
