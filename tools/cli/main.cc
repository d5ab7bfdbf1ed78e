// The meshwright binary: one command per run.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "executor/host/host.h"
#include "tools/cli/app.h"
#include "tools/cli/context.h"

namespace {

std::atomic<bool> interrupted{false};

void OnInterrupt(int) { interrupted.store(true); }

double MonotonicSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::optional<std::string> EnvironmentVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string BinaryDir() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(".") : path.parent_path().string();
}

}  // namespace

int main(int argc, char** argv) {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  sigaction(SIGINT, &action, nullptr);
  // A reader that went away shows up as a failed write, not as a signal.
  signal(SIGPIPE, SIG_IGN);
  meshwright::CommandContext context{.out = std::cout,
                                     .err = std::cerr,
                                     .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                                     .err_is_terminal = isatty(STDERR_FILENO) == 1,
                                     .host_cores = meshwright::PhysicalCores(),
                                     .binary_dir = BinaryDir(),
                                     .now_s = MonotonicSeconds,
                                     .interrupted = interrupted,
                                     .environment = EnvironmentVariable};
  return meshwright::RunCommandLine(argc, argv, context);
}
