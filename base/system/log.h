// LogEntry is one line that a long-running program logs for its operator. The program decides how
// and where lines are written; libraries only receive the function.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace meshwright {

// The levels run from errors that need an operator to details for developers.
enum class LogLevel { kError, kWarning, kInfo, kDebug };

// The objects that a line concerns, for filtering. A field that does not apply is empty or 0.
struct LogFields {
  std::string sweep = {};  // the last part of the sweep's resource name
  int32_t trial = 0;
  int32_t attempt = 0;
  std::string agent = {};
  std::string method = {};  // of a call, such as "meshwright.v1.Sweeps/CreateSweep"
  std::string caller = {};  // of a call, such as "token ann"
  std::string code = {};    // of a status, such as "PERMISSION_DENIED"
};

struct LogEntry {
  LogLevel level = LogLevel::kInfo;
  // The text of the line. It may contain text from outside. It does not repeat the sweep, trial and
  // attempt of `about`, because every log format writes these fields separately.
  std::string message;
  LogFields about = {};
};

// Takes one entry. It may be called from any thread.
using LogFunction = std::function<void(const LogEntry&)>;

}  // namespace meshwright
