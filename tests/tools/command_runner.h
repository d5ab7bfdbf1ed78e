// RunCommand() runs a command line in this process and captures its output.
#pragma once

#include <atomic>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/app.h"

namespace meshwright::cli {

struct CommandOutput {
  int exit_code = 0;
  std::string out;
  std::string err;
};

inline const std::atomic<bool> kNeverInterrupted{false};

// Runs the command line with a clock that stands still, so that printed times are 0. The host has
// two cores, the given CUDA devices, and only the given environment variables.
inline CommandOutput RunCommand(const std::vector<std::string>& arguments,
                                const std::string& binary_dir = "/nonexistent",
                                const std::atomic<bool>& interrupted = kNeverInterrupted,
                                const trial::DeviceList& cuda_devices = {{}, "there is none"},
                                const command_line::Environment& environment = {}) {
  std::ostringstream out;
  std::ostringstream err;
  CommandContext context{.out = out,
                         .err = err,
                         .host_cores = 2,
                         .binary_dir = binary_dir,
                         .now_s = [] { return 0.0; },
                         .interrupted = interrupted,
                         .today = [] { return std::string("2026-01-02"); },
                         .list_devices = [&](const std::string&) { return cuda_devices; },
                         .environment = environment};
  std::vector<const char*> argv = {"meshwright"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const int code = RunCommandLine(static_cast<int>(argv.size()), argv.data(), context);
  return {code, out.str(), err.str()};
}

}  // namespace meshwright::cli
