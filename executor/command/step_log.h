// StepLog collects what the lines of a command's log tell of its steps.
//
// Ranks may each print a line for one step: the step then takes as long as its slowest rank. A step
// whose line has no time takes as long as passed since the line of the step before. The log's first
// steps are a warm-up and do not count.
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

  // Takes what a line says, which was read at `now`. Returns whether it ended a step.
  bool Add(const LoggedLine& line, LogClock::time_point now);

  // Returns the times of the steps after the warm-up, whose last step comes first: like that of a
  // worker's first step, its time does not count.
  std::vector<double> TimesS() const;
  // Returns the losses of the same steps; of those that told one.
  std::vector<double> Losses() const;
  // The largest peak memory of a rank, bytes; nullopt if the log does not tell it.
  std::optional<int64_t> peak_bytes() const { return peak_bytes_; }
  // What the framework made of the layout, by layout keys.
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
