// LogFormat says how the lines of a framework's log tell steps, times, losses and memory: for each
// figure a regular expression (RE2's) whose first group is the number.
//
// Whatever its format, a log may have lines of JSON, each with some of the keys of a figure:
//   {"step": 3, "step_s": 1.25, "peak_bytes": 123456789, "loss": 2.5}
// and one that says what the framework made of the layout, by layout keys:
//   {"ran": {"zero": 3, "dp": 4}}
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::command {

struct LogFormat {
  std::string name = {};  // of a known format; empty: `patterns` are the user's own
  std::map<std::string, std::string> patterns = {};  // regular expressions by figure
};

// Returns the format of this name. Returns InvalidArgument about `field`, with the known names, if
// there is none.
absl::StatusOr<LogFormat> FindLogFormat(std::string_view field, std::string_view name);

// Returns the names of the known formats.
std::vector<std::string> LogFormatNames();

// Returns the figures that a pattern may be for, such as "step_s".
std::vector<std::string> LogFigureNames();

}  // namespace meshwright::command
