// StepLog collects what the lines of a command's log report about its steps.
//
// If several ranks print a line for one step, the step takes as long as the slowest of them. If a
// step's line has no time, the step takes the time since the previous step's line was read. The
// log's first steps are a warm-up and do not count.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/command/log_reader.h"

namespace meshwright::command {

using LogClock = std::chrono::steady_clock;

class StepLog {
 public:
  explicit StepLog(int32_t warm_up_steps) : warm_up_steps_(warm_up_steps) {}

  // Takes a line that was read at `now`. Returns whether the line ended a step.
  bool Add(const LoggedLine& line, LogClock::time_point now);

  // Returns the times of the warm-up's last step and of all steps after the warm-up. The first of
  // these times does not count, like the time of a worker's first step.
  std::vector<double> TimesS() const;
  // Returns the losses of the same steps. Steps without a loss are left out.
  std::vector<double> Losses() const;
  // The largest peak memory of a rank, bytes; nullopt if the log does not report it.
  std::optional<int64_t> peak_bytes() const { return peak_bytes_; }
  // The values of layout keys that the framework says it ran.
  const std::map<std::string, std::string>& ran() const { return ran_; }

 private:
  struct Step {
    std::optional<double> time_s;
    std::optional<double> loss;
  };

  const int32_t warm_up_steps_;
  std::map<int64_t, Step> steps_;
  std::optional<LogClock::time_point> last_step_;
  std::optional<int64_t> peak_bytes_;
  std::map<std::string, std::string> ran_;
};

}  // namespace meshwright::command
