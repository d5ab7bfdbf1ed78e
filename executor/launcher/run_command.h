// RunCommand() runs another program and waits for its end, with a time limit and without a shell.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace meshwright::launcher {

struct CommandEnd {
  enum class Reason { kNotStarted, kTimedOut, kEnded };
  Reason kind = Reason::kNotStarted;
  // The exit code of a program that ended by itself, or 128 + the signal that killed the program.
  int exit_code = 0;
  // The program's standard output.
  std::string out;
};

// Runs command[0], which is searched on PATH, with the other entries as its arguments. The program
// gets an empty standard input and no descriptors of this process, and its standard error is
// discarded. The program is killed after `limit`.
CommandEnd RunCommand(const std::vector<std::string>& command, std::chrono::milliseconds limit);

}  // namespace meshwright::launcher
