// LogFormat says how the lines of a framework's log report steps, times, losses and memory: for
// each figure, it has a regular expression (RE2's) with one group, which matches the number.
//
// In any format, a log may also have lines of JSON. Such a line reports figures by name,
//   {"step": 3, "step_s": 1.25, "peak_bytes": 123456789, "loss": 2.5}
// or the values of layout keys that the framework used:
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

// Returns the format of this name. Returns InvalidArgument for `field`, with the known names, if
// there is none.
absl::StatusOr<LogFormat> FindLogFormat(std::string_view field, std::string_view name);

// Returns the names of the known formats.
std::vector<std::string> LogFormatNames();

// Returns the names of the figures that patterns may have, such as "step_s".
std::vector<std::string> LogFigureNames();

}  // namespace meshwright::command
