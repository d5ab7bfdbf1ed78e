// docs/operations.md, line by line: certificates, a server with TLS, two agents, and an operator
// whose sweep outlives one of the agents.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/process.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAddressOfDocs[] = "10.0.0.1:7077";

// One that nobody listened on a moment ago.
uint16_t FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

class OperationsTest : public BinaryTest {
 protected:
  void SetUp() override {
    BinaryTest::SetUp();
    const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
    ASSERT_NE(source, nullptr);
    text_ = ReadFile(std::string(source) + "/docs/operations.md");
    ASSERT_FALSE(text_.empty());
  }

  // The lines of the page's block that begins with this one.
  std::vector<std::string> Block(const std::string& first_line_of, const std::string& under) const {
    const size_t heading = text_.find("\n## " + under + "\n");
    const size_t begin = text_.find("```sh\n" + first_line_of, heading);
    EXPECT_TRUE(heading != std::string::npos && begin != std::string::npos) << first_line_of;
    const size_t from = text_.find('\n', begin) + 1;
    const std::string block = text_.substr(from, text_.find("```", from) - from);
    return absl::StrSplit(block, '\n', absl::SkipEmpty());
  }

  // Runs the lines in the test's folder, with the program on the path. Nothing that they start
  // outlives them.
  void RunShell(const std::string& log, const std::vector<std::string>& lines) {
    std::string script = "set -eu -o pipefail; cd '" + folder_ + "'\n";
    script += "export PATH='" + meshwright_.substr(0, meshwright_.rfind('/')) + "':$PATH\n";
    script += "trap 'jobs=$(jobs -p); [ -z \"$jobs\" ] || kill -9 $jobs' EXIT\n";
    for (const std::string& line : lines) script += line + "\n";
    // It ends the shell together with what the shell started.
    Process shell({"/usr/bin/timeout", "-k", "5", "100", "/bin/bash", "-c", script},
                  folder_ + "/" + log);
    ASSERT_EQ(shell.Wait(), 0) << shell.err();
  }

  // A line of the page as words, with this machine's address, devices and folder.
  std::vector<std::string> WordsOf(const std::string& line) const {
    std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    EXPECT_EQ(words.front(), "meshwright");
    words.erase(words.begin());
    for (std::string& word : words) {
      if (word == kAddressOfDocs) word = address_;
      if (word == "cuda") word = "cpu:2";
      if (absl::StartsWith(word, "tls/") || word == "sweeps.db") {
        word = absl::StrCat(folder_, "/", word);
      }
    }
    return words;
  }
  std::vector<std::string> LineWith(const std::vector<std::string>& lines,
                                    const std::string& part) const {
    for (const std::string& line : lines) {
      if (absl::StrContains(line, part)) return WordsOf(line);
    }
    ADD_FAILURE() << "no line with " << part;
    return {};
  }

  std::unique_ptr<Process> StartServer(const std::vector<std::string>& lines) {
    address_ = "127.0.0.1:0";
    std::vector<std::string> words = LineWith(lines, "meshwright serve");
    words.insert(words.end(), {"--lease-s", "6"});
    auto server = Start("server", words);
    EXPECT_TRUE(WaitFor([&] {
      return server->out().find('\n') != std::string::npos || !server->running();
    })) << server->err();
    const std::string prefix = "listening on ";
    const std::string line = server->out();
    EXPECT_EQ(line.substr(0, prefix.size()), prefix) << server->err();
    address_ = line.substr(prefix.size(), line.find('\n') - prefix.size());
    return server;
  }
  std::unique_ptr<Process> StartAgent(const std::vector<std::string>& lines,
                                      const std::string& name) {
    std::vector<std::string> words = LineWith(lines, "--name " + name);
    words.insert(words.end(), {"--no-benchmark", "--state-dir", folder_ + "/state-" + name});
    auto agent = Start(name, words);
    EXPECT_TRUE(WaitFor([&] { return agent->err().find("connected to") != std::string::npos; }))
        << agent->err();
    return agent;
  }
  // A command of the operator, by the flags of the page's line.
  std::unique_ptr<Process> Operator(const std::vector<std::string>& lines, const std::string& log,
                                    const std::vector<std::string>& command) {
    std::vector<std::string> words = LineWith(lines, "meshwright sweep list");
    words.erase(words.begin(), words.begin() + 2);
    words.insert(words.begin(), command.begin(), command.end());
    return Start(log, words);
  }

  std::string text_;
};

TEST_F(OperationsTest, ALostNodesTrialIsFinishedByTheOther) {
  RunShell("recipe", Block("umask", "Certificates"));
  const std::string port = absl::StrCat(FreePort());
  std::vector<std::string> lines = Block("tls()", "A lost node, tried out");
  for (std::string& line : lines) line = absl::StrReplaceAll(line, {{"7077", port}});
  RunShell("lost-node", lines);
  const std::string out = ReadFile(folder_ + "/lost-node.out");
  EXPECT_THAT(out, HasSubstr("agent node-1 vanished in attempt 1; it runs again as attempt 2"));
  EXPECT_THAT(out, HasSubstr("on agent node-2"));
  EXPECT_THAT(out, HasSubstr("sweep try is finished: 2 trials: 2 ok"));
}

TEST_F(OperationsTest, TheLinesOfEachMachineBringUpAServerAndTwoAgentsAndSayWhoAsked) {
  RunShell("recipe", Block("umask", "Certificates"));
  const std::vector<std::string> lines = Block("meshwright serve", "Certificates");
  const auto server = StartServer(lines);
  const auto first = StartAgent(lines, "node-1");
  const auto second = StartAgent(lines, "node-2");
  const auto start = Operator(
      lines, "start",
      {"sweep", "start", "--name", "s", "--model", "tinystories-15m", "--cluster", "local-cpu",
       "--gpus", "2", "--seq-len", "64", "--global-batch", "8", "--trials", "2", "--steps", "2"});
  ASSERT_EQ(start->WaitWithin(std::chrono::seconds(60)), 0) << start->err();
  const auto watch = Operator(lines, "watch", {"sweep", "watch", "s", "--format", "json"});
  ASSERT_EQ(watch->WaitWithin(std::chrono::seconds(120)), 0) << watch->err();
  EXPECT_THAT(watch->out(), HasSubstr("on agent node-1"));
  EXPECT_THAT(watch->out(), HasSubstr("on agent node-2"));
  const json created = json::parse(watch->out().substr(0, watch->out().find('\n')));
  EXPECT_EQ(created["kind"], "sweep_created");
  EXPECT_EQ(created["actor"], "certificate ann");
  // The page's own line works as it stands, and without a certificate it does not.
  const auto listed = Start("list", LineWith(lines, "meshwright sweep list"));
  EXPECT_EQ(listed->WaitWithin(std::chrono::seconds(30)), 0) << listed->err();
  const auto nobody =
      Start("nobody", {"sweep", "list", "--server", address_, "--tls-ca", folder_ + "/tls/ca.pem"});
  EXPECT_EQ(nobody->WaitWithin(std::chrono::seconds(30)), 1);
  EXPECT_THAT(nobody->err(), HasSubstr("this server asks who calls"));
}

TEST_F(OperationsTest, TokensAreMadeAndRevokedWhileTheServerRuns) {
  RunShell("recipe", Block("umask", "Certificates"));
  const std::vector<std::string> lines = Block("meshwright serve", "Certificates");
  const auto server = StartServer(lines);
  std::vector<std::string> tokens = Block("umask", "Tokens");
  ASSERT_THAT(tokens.back(), HasSubstr("token revoke"));
  const std::string revoke = tokens.back();
  tokens.pop_back();
  RunShell("tokens", tokens);
  const auto list = [&](const std::string& log) {
    return Start(log, {"sweep", "list", "--server", address_, "--tls-ca", folder_ + "/tls/ca.pem",
                       "--token-file", folder_ + "/bob.token"});
  };
  const auto before = list("before");
  EXPECT_EQ(before->WaitWithin(std::chrono::seconds(30)), 0) << before->err();
  // An agent whose token is in its environment, with a worker that tells its own.
  const std::string worker = folder_ + "/worker";
  const std::string seen = folder_ + "/environment";
  std::ofstream(worker) << "#!/bin/sh\nenv > '" << seen << "'\necho " MESHWRIGHT_VERSION "\n";
  ASSERT_EQ(chmod(worker.c_str(), 0700), 0);
  setenv("MESHWRIGHT_TOKEN", ReadFile(folder_ + "/node-3.token").c_str(), /*overwrite=*/1);
  const auto agent =
      Start("node-3", {"agent", "--server", address_, "--tls-ca", folder_ + "/tls/ca.pem", "--name",
                       "node-3", "--devices", "cpu:1", "--worker", worker, "--no-benchmark",
                       "--state-dir", folder_ + "/state"});
  unsetenv("MESHWRIGHT_TOKEN");
  EXPECT_TRUE(WaitFor([&] { return agent->err().find("connected to") != std::string::npos; }))
      << agent->err();
  EXPECT_THAT(ReadFile(seen), HasSubstr("PATH="));
  EXPECT_THAT(ReadFile(seen), Not(HasSubstr("mwt_")));
  RunShell("revoke", {revoke});
  const auto after = list("after");
  EXPECT_EQ(after->WaitWithin(std::chrono::seconds(30)), 1);
  EXPECT_THAT(after->err(), HasSubstr("token bob was revoked"));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->WaitWithin(std::chrono::seconds(20)), 0) << server->err();
}

}  // namespace
}  // namespace meshwright::cli
