// What a long-running program tells its operator, line by line. Who writes the lines, how and
// where, is for the program to say; libraries only get the function.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace meshwright {

// From what needs a hand to what only a developer reads.
enum class LogLevel { kError, kWarning, kInfo, kDebug };

// What a line is about, so that lines can be filtered by it. Empty, or 0: about none.
struct LogFields {
  std::string sweep = {};  // the last part of its name
  int32_t trial = 0;
  int32_t attempt = 0;
  std::string agent = {};
  std::string method = {};  // of a call, "meshwright.v1.Sweeps/CreateSweep"
  std::string caller = {};  // as events name it, "token ann"
  std::string code = {};    // of a status, "PERMISSION_DENIED"
};

struct LogEntry {
  LogLevel level = LogLevel::kInfo;
  // A sentence that may hold any text from outside. It leaves out the sweep, trial and attempt that
  // it is about, which are written beside it in every format, and says all else.
  std::string message;
  LogFields about = {};
};

// Takes one line. Can be called from any thread.
using LogFunction = std::function<void(const LogEntry&)>;

}  // namespace meshwright
