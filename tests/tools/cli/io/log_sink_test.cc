#include "tools/cli/io/log_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

absl::Time SomeTime() { return absl::FromUnixMicros(1'760'000'000'123'456); }

std::string Written(const LogEntry& entry, LogFormat format) {
  std::ostringstream out;
  MakeLog(out, {.level = LogLevel::kDebug, .format = format}, SomeTime)(entry);
  return out.str();
}

LogEntry Saying(const std::string& message) { return {.message = message}; }

TEST(LogSinkTest, LinesHaveATimeALevelAndTheText) {
  std::ostringstream out;
  const LogFunction log = MakeLog(out, {}, SomeTime);
  log({.message = "listening {} %s"});
  log({.level = LogLevel::kWarning, .message = "agent a lost its connection"});
  EXPECT_EQ(out.str(),
            "2025-10-09T08:53:20.123Z info listening {} %s\n"
            "2025-10-09T08:53:20.123Z warning agent a lost its connection\n");
}

TEST(LogSinkTest, LighterLinesAreLeftOut) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    std::ostringstream out;
    const LogFunction log = MakeLog(out, {.level = LogLevel::kWarning, .format = format}, SomeTime);
    log({.level = LogLevel::kDebug, .message = "one"});
    log({.level = LogLevel::kInfo, .message = "two"});
    log({.level = LogLevel::kWarning, .message = "three"});
    log({.level = LogLevel::kError, .message = "four"});
    EXPECT_THAT(out.str(), AllOf(HasSubstr("warning"), HasSubstr("three"), HasSubstr("error"),
                                 HasSubstr("four"), Not(HasSubstr("one")), Not(HasSubstr("two"))));
  }
}

TEST(LogSinkTest, TextNamesTheTrialBehindTheSentence) {
  // What a sentence says itself is not said again.
  EXPECT_EQ(Written({.message = "the trial goes to agent a",
                     .about = {.sweep = "night", .trial = 3, .attempt = 1, .agent = "a"}},
                    LogFormat::kText),
            "2025-10-09T08:53:20.123Z info the trial goes to agent a sweep=night trial=3 "
            "attempt=1\n");
  EXPECT_THAT(Written({.message = "agent a left: bye", .about = {.agent = "a"}}, LogFormat::kText),
              HasSubstr(" agent a left: bye\n"));
  // A name that an earlier release made can't pass for more fields.
  EXPECT_THAT(Written({.message = "ended", .about = {.sweep = "a \" trial=9"}}, LogFormat::kText),
              HasSubstr(R"( ended sweep="a \" trial=9")"
                        "\n"));
}

TEST(LogSinkTest, JsonHasWhatTheLineIsAbout) {
  EXPECT_EQ(Written({.level = LogLevel::kWarning,
                     .message = "it \"ended\"",
                     .about = {.sweep = "night",
                               .trial = 3,
                               .attempt = 1,
                               .agent = "a",
                               .method = "meshwright.v1.Sweeps/GetSweep",
                               .caller = "token ann",
                               .code = "NOT_FOUND"}},
                    LogFormat::kJson),
            R"({"time":"2025-10-09T08:53:20.123456Z","level":"warning","message":"it \"ended\"",)"
            R"("sweep":"night","trial":3,"attempt":1,"agent":"a",)"
            R"("method":"meshwright.v1.Sweeps/GetSweep","caller":"token ann","code":"NOT_FOUND"})"
            "\n");
  EXPECT_EQ(Written(Saying("bye"), LogFormat::kJson),
            R"({"time":"2025-10-09T08:53:20.123456Z","level":"info","message":"bye"})"
            "\n");
}

TEST(LogSinkTest, TextFromOutsideStaysInItsLine) {
  const std::string forged =
      "agent left: bye\n2025-10-09T08:53:20.123Z error all is lost\r\x1b[2J\x7f\xc2\x9b";
  EXPECT_THAT(Written(Saying(forged), LogFormat::kText),
              HasSubstr("bye\\n2025-10-09T08:53:20.123Z error all is lost\\r\\x1b[2J\\x7f"
                        "\\xc2\\x9b\n"));
  const std::string line = Written(Saying(forged), LogFormat::kJson);
  EXPECT_THAT(line, HasSubstr(R"(bye\n2025-10-09T08:53:20.123Z error all is lost\r\u001b[2J)"
                              R"(\u007f\u009b"})"
                              "\n"));
  EXPECT_EQ(ordered_json::parse(line)["message"], forged);
}

TEST(LogSinkTest, WhatIsNotUtf8IsWrittenAllTheSame) {
  EXPECT_THAT(Written(Saying("a\xffz"), LogFormat::kText), HasSubstr("a\\xffz\n"));
  const std::string line = Written(Saying("a\xffz g\xc3\xbcltig"), LogFormat::kJson);
  EXPECT_EQ(ordered_json::parse(line)["message"], "a\xef\xbf\xbdz g\xc3\xbcltig");
  for (const char c : line) EXPECT_TRUE(static_cast<unsigned char>(c) < 0x7f) << line;
}

TEST(LogFlags, NameWhatTheyTake) {
  for (const char* flag : {"--log-level", "--log-format"}) {
    const CommandOutput run = RunCommand({"serve", "--db", "x.db", flag, "loud"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(flag));
  }
}

}  // namespace
}  // namespace meshwright::cli
