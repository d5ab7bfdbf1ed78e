#include "tests/executor/guard/guarded_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace meshwright::guard {

GuardedLaunch Shell(const std::string& script) {
  const char* const folder = std::getenv("MESHWRIGHT_BIN_DIR");
  return {
      .guard = absl::StrCat(folder == nullptr ? "." : folder, "/../tests/meshwright-test-guard"),
      .argv = {"/bin/sh", "-c", script},
      .environment = {"PATH=/usr/bin:/bin", "MARK=guarded"},
      .folder = "/"};
}

GuardedProcess Start(const GuardedLaunch& launch) {
  absl::StatusOr<GuardedProcess> process = GuardedProcess::Start(launch);
  EXPECT_TRUE(process.ok()) << process.status();
  return *std::move(process);
}

bool Eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + kLimit;
  while (std::chrono::steady_clock::now() < until) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

std::string Finish(GuardedProcess& process) {
  std::string output;
  EXPECT_TRUE(Eventually([&] {
    const bool ended = process.TryReap();
    output += process.ReadOutput();
    return ended;
  }));
  return output;
}

std::vector<pid_t> ReadPids(GuardedProcess& process, size_t count) {
  std::string output;
  std::vector<pid_t> pids;
  EXPECT_TRUE(Eventually([&] {
    output += process.ReadOutput();
    return static_cast<size_t>(std::count(output.begin(), output.end(), '\n')) >= count;
  })) << output;
  for (const auto line : absl::StrSplit(output, '\n', absl::SkipEmpty())) {
    pid_t pid = 0;
    EXPECT_TRUE(absl::SimpleAtoi(line, &pid)) << line;
    pids.push_back(pid);
  }
  return pids;
}

bool Runs(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  if (!std::getline(file, text)) return false;
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text[name_end + 2] != 'Z';
}

bool AllEnd(const std::vector<pid_t>& pids) {
  return Eventually([&] { return std::none_of(pids.begin(), pids.end(), Runs); });
}

}  // namespace meshwright::guard
