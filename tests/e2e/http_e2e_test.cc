// `meshwright ui` and `serve --http`, as a browser and scripts reach them.
#include <signal.h>

#include <string>

#include "gmock/gmock.h"
#include "tests/e2e/process.h"
#include "tests/server/gateway/http_client.h"

namespace meshwright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPresets[] = "/meshwright.v1.Planner/ListPresets";

class HttpE2eTest : public BinaryTest {
 protected:
  // Waits for a line that begins with `begin`, and returns its rest.
  static std::string LineOf(const Process& process, const std::string& begin) {
    std::string rest;
    EXPECT_TRUE(WaitFor([&] {
      const std::string out = process.out();
      const size_t at = out.find(begin);
      const size_t end = at == std::string::npos ? at : out.find('\n', at);
      if (end == std::string::npos) return false;
      rest = out.substr(at + begin.size(), end - at - begin.size());
      return true;
    })) << process.err();
    return rest;
  }
};

TEST_F(HttpE2eTest, UiPrintsAnAddressWithTheKeyThatCallsNeed) {
  const auto ui = Start("ui", {"ui", "--no-open"});
  const std::string rest = LineOf(*ui, "http://");
  const size_t key_at = rest.find("/#key=");
  ASSERT_NE(key_at, std::string::npos) << rest;
  const server::HttpCaller caller{.server = *ParseHostPort(rest.substr(0, key_at))};
  const std::string key = rest.substr(key_at + 6);
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(server::Post(caller, kPresets, "{}").status, 403);
  EXPECT_EQ(server::Post(caller, kPresets, "{}", {{"X-Meshwright-Key", key}}).status, 200);
  ui->Signal(SIGTERM);
  EXPECT_EQ(ui->WaitWithin(std::chrono::seconds(10)), 0);
}

TEST_F(HttpE2eTest, UiKeepsSweepsInTheFileThatItIsGiven) {
  const std::string db = folder_ + "/mine.db";
  const auto ui = Start("ui", {"ui", "--no-open", "--db", db, "--listen", "127.0.0.1:0"});
  LineOf(*ui, "http://");
  LineOf(*ui, "agents on 127.0.0.1:");
  EXPECT_TRUE(std::filesystem::exists(db));
}

TEST_F(HttpE2eTest, ServeSaysWhereItsPageIs) {
  const auto server =
      Serve("serve", "127.0.0.1:0", "6", {"--http", "127.0.0.1:0", "--http-name", "mesh.example"});
  const std::string rest = LineOf(*server, "page on http://");
  const server::HttpCaller caller{.server = *ParseHostPort(rest.substr(0, rest.find('/')))};
  EXPECT_EQ(server::Post(caller, kPresets, "{}", {{"Host", "mesh.example"}}).status, 200);
  EXPECT_EQ(server::Ask(caller, "GET", "/metrics").status, 200);
  const auto second = Start("second", {"serve", "--db", folder_ + "/other.db", "--listen",
                                       "127.0.0.1:0", "--http", ToText(caller.server)});
  EXPECT_EQ(second->Wait(), 1);
  EXPECT_THAT(second->err(), HasSubstr("for HTTP"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/other.db"));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->WaitWithin(std::chrono::seconds(10)), 0);
}

TEST_F(HttpE2eTest, NamesNeedAnAddress) {
  const auto server =
      Start("serve", {"serve", "--db", folder_ + "/sweeps.db", "--http-name", "mesh.example"});
  EXPECT_EQ(server->Wait(), 2);
  EXPECT_THAT(server->err(), HasSubstr("--http"));
}

}  // namespace
}  // namespace meshwright::cli
