// The one place where `serve` and `agent` write log lines.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/time/time.h"
#include "executor/host/log.h"

namespace meshwright::cli {

// Lines like "2026-11-22T12:38:09.123Z warning agent a lost its connection", escaped, one for each
// call, down to `level`. `out` must outlive the function; `clock` says when it is.
host::LogFunction MakeLog(std::ostream& out, host::LogLevel level,
                          std::function<absl::Time()> clock);

// --log-level.
void AddLogLevel(CLI::App& command, host::LogLevel& level);

}  // namespace meshwright::cli
