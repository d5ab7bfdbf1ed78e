// What a long-running program tells its operator, line by line. Who writes the lines, and where, is
// for the program to say; libraries only get the function.
#pragma once

#include <functional>
#include <string>

namespace meshwright::host {

// From what needs a hand to what only a developer reads.
enum class LogLevel { kError, kWarning, kInfo, kDebug };

// Takes one line, which may hold any text from outside. Can be called from any thread.
using LogFunction = std::function<void(LogLevel, const std::string& line)>;

}  // namespace meshwright::host
