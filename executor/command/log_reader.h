// LogReader reads the lines of a framework's log. The text is hostile: a line is read up to
// kMaxLineBytes, and whatever it says is bounded.
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

// What one line tells. All numbers are finite and not below 0.
struct LoggedLine {
  bool is_step = false;  // whether the line is about a step that has ended
  std::optional<int64_t> step = {};
  std::optional<double> step_s = {};
  std::optional<double> loss = {};  // may be below 0
  std::optional<int64_t> peak_bytes = {};
  std::map<std::string, std::string> ran = {};  // values by layout key
};

// The amounts of a step from which rates give a time.
struct StepAmounts {
  int64_t tokens = 0;
  int64_t sequences = 0;
  int64_t ranks = 1;
};

class LogReader {
 public:
  // Returns InvalidArgument if a pattern is not a regular expression with one group, or is for no
  // figure.
  static absl::StatusOr<LogReader> Make(const LogFormat& format, const StepAmounts& amounts);

  LogReader(LogReader&&) noexcept;
  LogReader& operator=(LogReader&&) noexcept;
  ~LogReader();

  // Reads a line without its end. Colours of a terminal are ignored.
  LoggedLine Read(std::string_view line) const;

 private:
  struct Pattern;

  LogReader();
  LoggedLine ReadJson(std::string_view line) const;

  std::vector<Pattern> patterns_;
  StepAmounts amounts_;
  // Whether the format has a figure from which a step's time follows. If it does not, each line
  // with a step or a loss ends a step.
  bool has_times_ = false;
};

}  // namespace meshwright::command
