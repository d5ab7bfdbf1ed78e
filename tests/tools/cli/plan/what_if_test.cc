// Runs every command of docs/what_if.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

// The words behind "meshwright", as a shell divides them; quotes are single ones.
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  words.erase(words.begin());
  return words;
}

std::vector<std::string> CommandsOf(const std::string& path) {
  std::vector<std::string> commands;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("meshwright ")) commands.push_back(line);
  }
  return commands;
}

TEST(WhatIf, EveryCommandAnswers) {
  const std::string folder = std::getenv("MESHWRIGHT_SOURCE_DIR");
  const std::vector<std::string> commands = CommandsOf(folder + "/docs/what_if.md");
  EXPECT_EQ(commands.size(), 21u);
  for (const std::string& command : commands) {
    const CommandOutput run = RunCommand(WordsOf(command));
    EXPECT_EQ(run.exit_code, 0) << command << "\n" << run.out << run.err;
    EXPECT_THAT(run.out, testing::Not(testing::HasSubstr("can't run"))) << command;
  }
}

}  // namespace
}  // namespace meshwright::cli
