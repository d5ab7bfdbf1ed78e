// CommandContext holds everything through which a command reaches the outside world, so that tests
// can replace parts of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "executor/trial/device_list.h"
#include "tools/cli/io/command_files.h"
#include "tools/command_line/defaults.h"

namespace meshwright::cli {

struct CommandError;  // tools/cli/common/error_fields.h

// Exit codes of the binary.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;    // something went wrong while running
inline constexpr int kExitBadInput = 2;  // the request is invalid
// No layout fits the device's memory, or no measured run can be modelled.
inline constexpr int kExitNothingFits = 3;
inline constexpr int kExitInterrupted = 130;  // by SIGINT

// Returns the date in UTC, YYYY-MM-DD.
std::string Today();

struct CommandContext {
  std::ostream& out;
  std::ostream& err;
  int32_t host_cores = 1;                // physical cores of this machine
  std::string binary_dir;                // folder of this binary and of the worker
  std::function<double()> now_s;         // monotonic seconds
  const std::atomic<bool>& interrupted;  // set by signals (tools/cli/common/stop_request.h)
  std::function<std::string()> today = Today;
  // Lists the CUDA devices that are visible to the worker at `worker_path`.
  std::function<absl::StatusOr<trial::DeviceList>(const std::string& worker_path)> list_devices =
      trial::ListDevicesHere;
  // Asks the person at the terminal, and returns whether they agree. Without a terminal nobody is
  // asked, and the answer is yes.
  std::function<bool(const std::string& question)> confirm = [](const std::string&) {
    return true;
  };
  // Returns the errno of the first failed write to `out`; 0 if none failed.
  std::function<int()> out_errno = [] { return 0; };
  CommandFiles files = {};
  // Looks up the environment variables that give flags their defaults.
  command_line::Environment environment = {};
  // Rewrites a status about a field of a request as a status about the flag that was typed. Set
  // while a command runs.
  std::function<absl::Status(const absl::Status&)> in_words_of_line = {};
  // Takes an error in place of the output streams, for a caller that is no person.
  std::function<void(const CommandError&)> take_error = {};
  std::string command_line = {};  // the command that runs, quoted for a shell
  int exit_code = kExitOk;        // set by the command that ran

  // Returns the worker's default path, which flags may override.
  std::string worker_path() const { return binary_dir + "/meshwright-worker"; }
};

enum class OutputFormat { kText, kJson };

// Prints the error as one sentence on `err`, and for JSON also as {"error": …} on `out`, or hands
// it to `take_error`. Returns the exit code: kExitBadInput for InvalidArgument, NotFound,
// OutOfRange, Unimplemented and AlreadyExists, kExitInterrupted for Cancelled, and kExitFailed for
// all other errors.
int ReportError(CommandContext& context, OutputFormat format, const absl::Status& status);

// Flushes `out` and returns `exit_code`. If `out` could not be written, reports that and returns
// kExitFailed. A closed pipe (`| head`) is no failure.
int FinishOutput(CommandContext& context, int exit_code);

}  // namespace meshwright::cli
