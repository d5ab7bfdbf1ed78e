// RunProgram() runs a program and returns its output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright {

// Runs `arguments[0]` with the other arguments and an empty standard input, and returns the first
// MiB of its standard output. A name without a slash is looked up in PATH. Returns
// - Unavailable if the program can't be started;
// - Internal if it is killed by a signal, or if it ends with an exit code other than 0. The message
//   for an exit code has the end of the program's standard error;
// - DeadlineExceeded if it has not ended after `timeout_s`. The program is then killed. If the kill
//   has no effect, as on a process that is stuck in a driver, the function returns without waiting
//   for the program's end.
absl::StatusOr<std::string> RunProgram(const std::vector<std::string>& arguments, double timeout_s);

// Does what RunProgram() does, with `input` as the standard input.
absl::StatusOr<std::string> RunProgramOn(std::string_view input,
                                         const std::vector<std::string>& arguments,
                                         double timeout_s);

}  // namespace meshwright
