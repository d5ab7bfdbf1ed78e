#include "tools/cli/io/log_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

absl::Time SomeTime() { return absl::FromUnixMillis(1'760'000'000'123); }

TEST(LogSinkTest, LinesHaveATimeALevelAndTheText) {
  std::ostringstream out;
  const host::LogFunction log = MakeLog(out, host::LogLevel::kInfo, SomeTime);
  log(host::LogLevel::kInfo, "listening {} %s");
  log(host::LogLevel::kWarning, "agent a lost its connection");
  EXPECT_EQ(out.str(),
            "2025-10-09T08:53:20.123Z info listening {} %s\n"
            "2025-10-09T08:53:20.123Z warning agent a lost its connection\n");
}

TEST(LogSinkTest, LighterLinesAreLeftOut) {
  std::ostringstream out;
  const host::LogFunction log = MakeLog(out, host::LogLevel::kWarning, SomeTime);
  log(host::LogLevel::kDebug, "one");
  log(host::LogLevel::kInfo, "two");
  log(host::LogLevel::kWarning, "three");
  log(host::LogLevel::kError, "four");
  EXPECT_THAT(out.str(), HasSubstr(" warning three\n"));
  EXPECT_THAT(out.str(), HasSubstr(" error four\n"));
  EXPECT_THAT(out.str(), testing::Not(HasSubstr("one")));
  EXPECT_THAT(out.str(), testing::Not(HasSubstr("two")));
}

TEST(LogSinkTest, TextFromOutsideStaysInItsLine) {
  std::ostringstream out;
  MakeLog(out, host::LogLevel::kInfo, SomeTime)(
      host::LogLevel::kInfo,
      "agent left: bye\n2025-10-09T08:53:20.123Z error all is lost\r\x1b[2J");
  EXPECT_THAT(out.str(),
              HasSubstr("bye\\n2025-10-09T08:53:20.123Z error all is lost\\r\\x1b[2J\n"));
}

TEST(LogLevelFlag, NamesWhatItTakes) {
  const CommandOutput run = RunCommand({"serve", "--db", "x.db", "--log-level", "loud"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--log-level"));
}

}  // namespace
}  // namespace meshwright::cli
