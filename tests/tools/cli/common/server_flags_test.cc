// How commands reach a server over TLS: flags, environment, and what is said where it fails.
#include "tools/cli/common/server_flags.h"

#include <sys/stat.h>

#include <fstream>
#include <map>

#include "db/token_store.h"
#include "gmock/gmock.h"
#include "tests/server/server_fixture.h"
#include "tests/server/test_certificates.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ServerFlagsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/server-flags-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ca_ = Put("ca.pem", authority_.certificate());
    const TestIdentity identity = authority_.Issue("IP:127.0.0.1");
    server::ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.host_cores = 4;
    options.version = "test";
    options.clock = absl::Now;
    options.tls = {identity.certificate, identity.key, authority_.certificate()};
    options.open_tokens = [this] { return db::TokenStore::Open(db()); };
    auto server = server::Server::Start([this] { return db::SqliteSweepStore::Open(db()); },
                                        std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string db() const { return folder_ + "/sweeps.db"; }
  std::string Put(const std::string& name, const std::string& text) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), 0600);
    return path;
  }
  std::string NewToken(const std::string& role) const {
    const CommandOutput made = RunCommand({"token", "create", "--db", db(), "--role", role});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return made.out;
  }
  CommandOutput List(std::vector<std::string> more) const {
    return ListAt(server_->address(), std::move(more));
  }
  CommandOutput ListAt(const std::string& servers, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"sweep", "list", "--server", servers};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunCommand(arguments, "/nonexistent", kNeverInterrupted, {{}, "there is none"},
                      [this](const std::string& name) -> std::optional<std::string> {
                        const auto found = variables_.find(name);
                        if (found == variables_.end()) return std::nullopt;
                        return found->second;
                      });
  }

  TestAuthority authority_;
  std::string folder_;
  std::string ca_;
  std::map<std::string, std::string> variables_;
  std::unique_ptr<server::Server> server_;
};

TEST_F(ServerFlagsTest, ATokenComesFromAFileOrTheEnvironment) {
  const std::string file = Put("token", NewToken("viewer"));
  EXPECT_EQ(List({"--tls-ca", ca_, "--token-file", file}).exit_code, 0);
  variables_ = {{"MESHWRIGHT_TLS_CA", ca_}, {"MESHWRIGHT_TOKEN_FILE", file}};
  EXPECT_EQ(List({}).exit_code, 0);
  variables_ = {{"MESHWRIGHT_TLS_CA", ca_}, {"MESHWRIGHT_TOKEN", NewToken("viewer")}};
  EXPECT_EQ(List({}).exit_code, 0);
}

TEST_F(ServerFlagsTest, AFileThatIsTypedGoesBeforeATokenOfTheEnvironment) {
  const std::string file = Put("token", NewToken("viewer"));
  variables_ = {{"MESHWRIGHT_TOKEN", *db::NewToken()}};
  EXPECT_EQ(List({"--tls-ca", ca_, "--token-file", file}).exit_code, 0);
  // And that goes before one that the environment names.
  variables_["MESHWRIGHT_TOKEN_FILE"] = file;
  const CommandOutput run = List({"--tls-ca", ca_});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("no such token"));
}

TEST_F(ServerFlagsTest, ACertificateNeedsNoToken) {
  const TestIdentity ann = authority_.Issue("URI:meshwright://viewer/ann");
  const CommandOutput run = List({"--tls-ca", ca_, "--tls-cert", Put("ann.pem", ann.certificate),
                                  "--tls-key", Put("ann.key", ann.key)});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(ServerFlagsTest, AddressesAreTriedInTurnUntilOneDecides) {
  const std::vector<std::string> access = {"--tls-ca", ca_, "--token-file",
                                           Put("token", NewToken("viewer"))};
  const std::string dead = "127.0.0.1:1";
  EXPECT_EQ(ListAt(dead + "," + server_->address(), access).exit_code, 0);
  EXPECT_EQ(ListAt(server_->address() + "," + dead, access).exit_code, 0);
  const CommandOutput none = ListAt(dead + ",127.0.0.1:2", access);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("no server answers at 127.0.0.1:1,127.0.0.1:2"));
  const CommandOutput wrong = ListAt(server_->address() + ",node", access);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("--server"), HasSubstr("node")));
}

TEST_F(ServerFlagsTest, ATokenGoesOverTlsOnly) {
  const CommandOutput run = List({"--token-file", Put("token", NewToken("viewer"))});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--token-file"), HasSubstr("goes over TLS only"),
                             HasSubstr("--tls-ca")));
}

TEST_F(ServerFlagsTest, SaysWhatAServerWithTlsTakes) {
  EXPECT_THAT(List({}).err, HasSubstr("one with TLS takes --tls-ca"));
  const CommandOutput anonymous = List({"--tls-ca", ca_});
  EXPECT_EQ(anonymous.exit_code, 1);
  EXPECT_THAT(anonymous.err, HasSubstr("the call has neither a token nor a certificate"));
  const CommandOutput stranger =
      List({"--tls-ca", Put("other.pem", TestAuthority().certificate())});
  EXPECT_EQ(stranger.exit_code, 1);
  EXPECT_THAT(stranger.err, HasSubstr("check that --tls-ca holds the CA of its certificate"));
}

TEST_F(ServerFlagsTest, ACommandToTypeNextNamesTheSameFiles) {
  const std::string file = Put("token", NewToken("operator"));
  const CommandOutput run = RunCommand({"sweep",          "start",
                                        "--server",       server_->address(),
                                        "--tls-ca",       ca_,
                                        "--token-file",   file,
                                        "--model",        "tinystories-15m",
                                        "--cluster",      "local-cpu",
                                        "--gpus",         "2",
                                        "--seq-len",      "64",
                                        "--global-batch", "4",
                                        "--trials",       "1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("--server " + server_->address() + " --tls-ca " + ca_ +
                                 " --token-file " + file));
}

// A token lets one agent in: several need one each, in files that are there.
TEST_F(ServerFlagsTest, AgentsOfAClusterNeedATokenEach) {
  const auto up = [&](const std::string& token_file) {
    return RunCommand({"agents", "up", "--launcher", "slurm", "--nodes", "2", "--server",
                       server_->address(), "--devices", "cpu:1", "--tls-ca", ca_, "--token-file",
                       token_file});
  };
  const CommandOutput one = up(Put("one.token", NewToken("operator")));
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_THAT(one.err, AllOf(HasSubstr("--token-file"),
                             HasSubstr("write {name} for the agent's name in the path")));
  Put("meshwright-agent-1.token", NewToken("operator"));
  const CommandOutput missing = up(folder_ + "/{name}.token");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("meshwright-agent-2.token"));
}

}  // namespace
}  // namespace meshwright::cli
