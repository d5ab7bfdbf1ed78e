// Runs another program and waits for it, with a time limit and without a shell.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace meshwright::launcher {

struct CommandEnd {
  enum class Reason { kNotStarted, kTimedOut, kEnded };
  Reason kind = Reason::kNotStarted;
  // Exit code of a program that ended by itself; 128 + the signal that killed it.
  int exit_code = 0;
  // The program's standard output.
  std::string out;
};

// Finds command[0] on PATH. The program gets an empty standard input and no other descriptors of
// this process; its standard error is discarded. It is killed after `limit`.
CommandEnd RunCommand(const std::vector<std::string>& command, std::chrono::milliseconds limit);

}  // namespace meshwright::launcher
