// The meshwright binary: one command per run.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "executor/guard/guard.h"
#include "executor/host/host.h"
#include "tools/cli/app.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/fd_stream.h"
#include "tools/cli/io/terminal.h"

namespace {

double MonotonicSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::optional<std::string> EnvironmentVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

// Asks on standard error, so that what is piped elsewhere stays as it is.
bool ConfirmAtTerminal(const std::string& question) {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) return true;
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

std::string BinaryDir() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(".") : path.parent_path().string();
}

}  // namespace

int main(int argc, char** argv) {
  meshwright::cli::OpenStandardDescriptors();
  // Before anything starts a thread.
  if (argc > 1 && std::string_view(argv[1]) == meshwright::guard::kGuardCommand) {
    return meshwright::guard::GuardMain(argc, argv);
  }
  // A closed reader shows up as a failed write, not as a signal.
  signal(SIGPIPE, SIG_IGN);
  meshwright::cli::Terminal out_terminal =
      meshwright::cli::TerminalAt(STDOUT_FILENO, EnvironmentVariable);
  meshwright::cli::Terminal err_terminal =
      meshwright::cli::TerminalAt(STDERR_FILENO, EnvironmentVariable);
  meshwright::cli::FdStream out(STDOUT_FILENO);
  meshwright::cli::AttachTerminal(out, &out_terminal);
  meshwright::cli::AttachTerminal(std::cerr, &err_terminal);
  meshwright::cli::CommandContext context{.out = out,
                                          .err = std::cerr,
                                          .host_cores = meshwright::host::PhysicalCores(),
                                          .binary_dir = BinaryDir(),
                                          .now_s = MonotonicSeconds,
                                          .interrupted = meshwright::cli::StopRequested(),
                                          .confirm = ConfirmAtTerminal,
                                          .out_errno = [&out] { return out.write_errno(); },
                                          .environment = EnvironmentVariable};
  context.files.AddStream("standard output", STDOUT_FILENO);
  context.files.AddStream("standard error", STDERR_FILENO);
  return meshwright::cli::RunCommandLine(argc, argv, context);
}
