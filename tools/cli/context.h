// What a command may use of the world outside; tests put their own in its place.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "executor/trial/device_list.h"
#include "tools/command_line/defaults.h"

namespace meshwright {

// Exit codes of the binary.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;       // something went wrong while running
inline constexpr int kExitBadInput = 2;     // the request can't be taken as it is
inline constexpr int kExitNothingFits = 3;  // no layout fits the device's memory
inline constexpr int kExitInterrupted = 130;

struct CommandContext {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  int32_t host_cores = 1;                // physical cores of this machine
  std::string binary_dir;                // where this binary lies; the worker lies beside it
  std::function<double()> now_s;         // monotonic seconds
  const std::atomic<bool>& interrupted;  // turned true by SIGINT
  // The CUDA devices that the worker at a path is shown.
  std::function<absl::StatusOr<DeviceList>(const std::string& worker_path)> list_devices =
      ListDevicesHere;
  // The value of an environment variable that gives flags their defaults.
  Environment environment = {};
  // A status about a field of a request, as one about the flag that was typed; set while a command
  // runs.
  std::function<absl::Status(const absl::Status&)> in_words_of_line = {};
  int exit_code = kExitOk;  // set by the command that ran

  // Where the worker lies, unless a flag says otherwise.
  std::string worker_path() const { return binary_dir + "/meshwright-worker"; }
};

enum class OutputFormat { kText, kJson };

// Prints `status` as one sentence (under JSON also as {"error": …} on the output) and returns the
// exit code for it: bad input for InvalidArgument, NotFound and OutOfRange, failed for the rest.
int ReportError(CommandContext& context, OutputFormat format, const absl::Status& status);

}  // namespace meshwright
