// Runs a program and returns what it prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright {

// Runs `arguments[0]`, looked up in PATH where it has no slash, with the other arguments and an
// empty standard input. Returns the first MiB of its standard output. Unavailable where it can't be
// started; Internal, with the end of its standard error, where it ends other than with exit code 0;
// DeadlineExceeded where it has not ended after `timeout_s`: it is then killed, but not waited for
// if that has no effect, as on a process that is stuck in a driver.
absl::StatusOr<std::string> RunProgram(const std::vector<std::string>& arguments, double timeout_s);

// Returns the same with `input` as the standard input.
absl::StatusOr<std::string> RunProgramOn(std::string_view input,
                                         const std::vector<std::string>& arguments,
                                         double timeout_s);

}  // namespace meshwright
