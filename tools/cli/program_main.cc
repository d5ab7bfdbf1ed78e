#include "tools/cli/program_main.h"

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

namespace meshwright::cli {
namespace {

double MonotonicSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::optional<std::string> VariableOfProcess(const std::string& name) {
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

int ProgramMain(int argc, char** argv) {
  OpenStandardDescriptors();
  // Before anything starts a thread.
  if (argc > 1 && std::string_view(argv[1]) == guard::kGuardCommand) {
    return guard::GuardMain(argc, argv);
  }
  // A closed reader shows up as a failed write, not as a signal.
  signal(SIGPIPE, SIG_IGN);
  Terminal out_terminal = TerminalAt(STDOUT_FILENO, VariableOfProcess);
  Terminal err_terminal = TerminalAt(STDERR_FILENO, VariableOfProcess);
  FdStream out(STDOUT_FILENO);
  AttachTerminal(out, &out_terminal);
  AttachTerminal(std::cerr, &err_terminal);
  CommandContext context{.out = out,
                         .err = std::cerr,
                         .host_cores = host::PhysicalCores(),
                         .binary_dir = BinaryDir(),
                         .now_s = MonotonicSeconds,
                         .interrupted = StopRequested(),
                         .confirm = ConfirmAtTerminal,
                         .out_errno = [&out] { return out.write_errno(); },
                         .environment = VariableOfProcess};
  context.files.AddStream("standard output", STDOUT_FILENO);
  context.files.AddStream("standard error", STDERR_FILENO);
  return RunCommandLine(argc, argv, context);
}

}  // namespace meshwright::cli
