// WorkersOf() counts the workers that a runner has left.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace meshwright::trial {

// Returns the number of processes that were started as workers of `runner`, even if their parent is
// another process now.
inline int WorkersOf(pid_t runner) {
  const std::string mark = "MESHWRIGHT_PARENT_PID=" + std::to_string(runner) + '\0';
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ");
    const std::string environment((std::istreambuf_iterator<char>(file)), {});
    count += environment.find(mark) != std::string::npos ? 1 : 0;
  }
  return count;
}

}  // namespace meshwright::trial
