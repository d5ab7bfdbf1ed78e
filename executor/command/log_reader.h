// LogReader reads the lines of a framework's log. The log is not trusted: a line is read up to
// kMaxLineBytes, and the values in it are bounded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/command/log_format.h"

namespace re2 {
class RE2;
}

namespace meshwright::command {

inline constexpr size_t kMaxLineBytes = 16384;

// What one line reports. All numbers are finite, and all but the loss are at least 0.
struct LoggedLine {
  bool is_step = false;  // whether the line reports a step that has ended
  std::optional<int64_t> step = {};
  std::optional<double> step_s = {};
  std::optional<double> loss = {};  // may be below 0
  std::optional<int64_t> peak_bytes = {};
  std::map<std::string, std::string> ran = {};  // values by layout key
};

// The amounts in one step, by which a rate is converted to a step time.
struct StepAmounts {
  int64_t tokens = 0;
  int64_t sequences = 0;
  int64_t ranks = 1;
};

class LogReader {
 public:
  // Returns InvalidArgument if a pattern is not a regular expression with one group, or if its key
  // is not the name of a figure.
  static absl::StatusOr<LogReader> Make(const LogFormat& format, const StepAmounts& amounts);

  LogReader(LogReader&&) noexcept;
  LogReader& operator=(LogReader&&) noexcept;
  ~LogReader();

  // Reads a line without its newline. Escape sequences for colours are ignored.
  LoggedLine Read(std::string_view line) const;

 private:
  struct Pattern;

  LogReader();
  LoggedLine ReadJson(std::string_view line) const;

  std::vector<Pattern> patterns_;
  StepAmounts amounts_;
  // Whether the format has a pattern for a time or a rate. If it has none, each line with a step or
  // a loss ends a step.
  bool has_times_ = false;
};

}  // namespace meshwright::command
