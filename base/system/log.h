// LogEntry is one line that a long-running program logs for its operator. The program decides how
// and where lines are written; libraries only receive the function.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace meshwright {

// From errors that need an operator to details for developers.
enum class LogLevel { kError, kWarning, kInfo, kDebug };

// The subject of a line, for filtering. Empty, or 0: none.
struct LogFields {
  std::string sweep = {};  // the last part of its name
  int32_t trial = 0;
  int32_t attempt = 0;
  std::string agent = {};
  std::string method = {};  // of a call, "meshwright.v1.Sweeps/CreateSweep"
  std::string caller = {};  // as in events, "token ann"
  std::string code = {};    // of a status, "PERMISSION_DENIED"
};

struct LogEntry {
  LogLevel level = LogLevel::kInfo;
  // A sentence that may hold any text from outside. It leaves out the sweep, trial and attempt that
  // it is about, which every format writes separately, and states everything else.
  std::string message;
  LogFields about = {};
};

// Takes one entry. Thread-safe.
using LogFunction = std::function<void(const LogEntry&)>;

}  // namespace meshwright
