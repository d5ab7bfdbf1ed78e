// Runs every command of docs/what_if.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/command_runner.h"
#include "tests/tools/documented_commands.h"

namespace meshwright::cli {
namespace {

TEST(WhatIf, EveryCommandAnswers) {
  const std::string folder = std::getenv("MESHWRIGHT_SOURCE_DIR");
  const std::vector<std::string> commands = CommandsOfPage(folder + "/docs/what_if.md");
  EXPECT_EQ(commands.size(), 21u);
  for (const std::string& command : commands) {
    const CommandOutput run = RunCommand(WordsOfCommand(command));
    EXPECT_EQ(run.exit_code, 0) << command << "\n" << run.out << run.err;
    EXPECT_THAT(run.out, testing::Not(testing::HasSubstr("can't run"))) << command;
  }
}

}  // namespace
}  // namespace meshwright::cli
