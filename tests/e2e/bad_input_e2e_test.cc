// What users type wrongly: one clear sentence on standard error and the exit code of its kind.
#include <algorithm>
#include <fstream>

#include "base/system/host_port.h"
#include "gmock/gmock.h"
#include "tests/e2e/process.h"
#include "tests/server/http/http_peer.h"

namespace meshwright::cli {
namespace {

using ::testing::HasSubstr;

class BadInputTest : public BinaryTest {
 protected:
  struct Ran {
    int code;
    std::string err;
  };
  Ran Run(const std::vector<std::string>& arguments) {
    const auto process = Start("run", arguments);
    const std::optional<int> code = process->WaitWithin(std::chrono::seconds(20));
    const std::string err = process->err();
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    return {code.value_or(-1), err};
  }
  std::vector<std::string> SweepStart(const std::string& model, const std::string& batch) const {
    return {"sweep",          "start",     "--server", address_, "--model",   model,
            "--cluster",      "local-cpu", "--gpus",   "2",      "--seq-len", "64",
            "--global-batch", batch,       "--trials", "1"};
  }
};

TEST_F(BadInputTest, ServeSaysWhyItCantListen) {
  const auto server = Serve("server", "127.0.0.1:0");
  const std::string db = folder_ + "/other.db";
  Ran ran = Run({"serve", "--db", db, "--listen", address_});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("in use"));
  EXPECT_FALSE(std::filesystem::exists(db));
  ran = Run({"serve", "--db", db, "--listen", "nonsense"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("HOST:PORT"));
  ran = Run({"serve", "--db", db, "--listen", "0.0.0.0:0"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--tls-cert and --tls-key"));
}

TEST_F(BadInputTest, ADatabaseThatIsNoneIsNamed) {
  const std::string path = folder_ + "/notes.txt";
  std::ofstream(path) << std::string(4096, 'n');
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"serve", "--db", path, "--listen", "127.0.0.1:0"},
        std::vector<std::string>{"db", "check", "--db", path}}) {
    const Ran ran = Run(command);
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("notes.txt is not an SQLite database"));
  }
  const Ran missing = Run({"db", "check", "--db", folder_ + "/missing.db"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("no database file"));
}

TEST_F(BadInputTest, ADamagedDatabaseIsRefusedAtTheStart) {
  {
    const auto server = Serve("server", "127.0.0.1:0");
    server->Signal(SIGTERM);
    ASSERT_EQ(server->WaitWithin(std::chrono::seconds(20)), 0);
  }
  const std::string path = folder_ + "/sweeps.db";
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(size - 4096, 'x');
  }
  const auto server = Start("damaged", {"serve", "--db", path, "--listen", "127.0.0.1:0"});
  EXPECT_EQ(server->WaitWithin(std::chrono::seconds(20)), 1);
  EXPECT_EQ(server->out(), "");
  EXPECT_THAT(server->err(), HasSubstr("database " + path + " is damaged ("));
}

TEST_F(BadInputTest, OddRequestsAtTheMetricsPortEndNothing) {
  const auto server = Serve("serve", "127.0.0.1:0", "6", {"--metrics-listen", "127.0.0.1:0"});
  const std::string before = "metrics on http://";
  ASSERT_TRUE(WaitFor([&] { return server->out().find("/metrics") != std::string::npos; }));
  const std::string out = server->out();
  const size_t begin = out.find(before) + before.size();
  const HostPort metrics = *ParseHostPort(out.substr(begin, out.find("/metrics") - begin));
  const HostPort grpc = *ParseHostPort(address_);
  for (const std::string method : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE",
                                   "CONNECT", "PROPFIND", "BREW", ""}) {
    for (const std::string& path : {std::string("/metrics"), std::string("/"), std::string("*"),
                                    std::string("/%00/../"), "/" + std::string(20000, 'a')}) {
      server::Exchange(metrics, method + " " + path + " HTTP/1.0\r\n\r\n");
      const server::HttpPeer peer(grpc);
      peer.Send(method + " " + path + " HTTP/1.0\r\n\r\n");
    }
  }
  EXPECT_TRUE(server->running());
  EXPECT_THAT(server::Exchange(metrics, "GET /metrics HTTP/1.0\r\n\r\n"),
              HasSubstr("meshwright_store_up 1"));
}

TEST_F(BadInputTest, NoServerIsSaidInOneSentence) {
  // A port that was free a moment ago: the server that had it is gone.
  { const auto server = Serve("server", "127.0.0.1:0"); }
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"sweep", "list", "--server", address_},
        std::vector<std::string>{"list", "models", "--server", address_}}) {
    const Ran ran = Run(command);
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("no server answers at " + address_));
  }
  EXPECT_EQ(Run({"sweep", "list", "--server", "here"}).code, 2);
}

TEST_F(BadInputTest, SweepsNameWhatIsWrong) {
  const auto server = Serve("server", "127.0.0.1:0");
  Ran ran = Run(SweepStart("tinystories", "8"));
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("tinystories-15m"));
  ran = Run(SweepStart("tinystories-15m", "-8"));
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--global-batch -8: must be"));
  std::vector<std::string> tight = SweepStart("tinystories-15m", "8");
  tight.insert(tight.end(), {"--memory-limit-gib", "0.01"});
  ran = Run(tight);
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("MiB over"));
  ran = Run({"sweep", "show", "nothing", "--server", address_});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("nothing"));
}

TEST_F(BadInputTest, AgentsNameWhatIsWrong) {
  Ran ran = Run({"agent", "--devices", "cpu:0"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("cpu:N"));
  ran = Run({"agent", "--devices", "cpu:1", "--worker", folder_ + "/none"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("worker"));
  ran = Run({"agent", "--devices", "cpu:1", "--server", "nowhere"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("HOST:PORT"));
  ran = Run({"agent", "--devices", "cpu:1", "--name", "a b"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("can't name an agent"));
  ran = Run({"agent", "--devices", "cpu:1", "--worker", "/bin/ls"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("is no meshwright-worker of version"));
}

}  // namespace
}  // namespace meshwright::cli
