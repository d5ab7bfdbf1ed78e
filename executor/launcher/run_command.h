// Runs another program and waits for it, for a bounded time and without a shell.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace meshwright::launcher {

struct CommandEnd {
  enum class Reason { kNotStarted, kTimedOut, kEnded };
  Reason kind = Reason::kNotStarted;
  // Of a program that ended by itself; 128 + the signal that ended it.
  int exit_code = 0;
  // Its standard output.
  std::string out;
};

// Finds command[0] on PATH. The program gets an empty standard input, no other descriptor of this
// process, and its standard error is dropped. After `limit` it is killed.
CommandEnd RunCommand(const std::vector<std::string>& command, std::chrono::milliseconds limit);

}  // namespace meshwright::launcher
