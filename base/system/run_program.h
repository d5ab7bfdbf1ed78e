// Runs a program for what it prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright {

// The standard output of `arguments[0]`, looked up in PATH where it has no slash, run with the
// others, its first MiB; its input is empty.
// Unavailable where it can't be started, Internal, with the end of its standard error, where it
// ends otherwise than with exit code 0, DeadlineExceeded where it has not ended after `timeout_s`:
// it is killed then, but not waited for if that has no effect, as on a process that is stuck in a
// driver.
absl::StatusOr<std::string> RunProgram(const std::vector<std::string>& arguments, double timeout_s);

// The same with `input` as its standard input.
absl::StatusOr<std::string> RunProgramOn(std::string_view input,
                                         const std::vector<std::string>& arguments,
                                         double timeout_s);

}  // namespace meshwright
