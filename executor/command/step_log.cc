#include "executor/command/step_log.h"

#include <algorithm>
#include <iterator>

#include "executor/trial/trial.h"

namespace meshwright::command {

bool StepLog::Add(const LoggedLine& line, LogClock::time_point now) {
  if (line.peak_bytes) peak_bytes_ = std::max(peak_bytes_.value_or(0), *line.peak_bytes);
  ran_.insert(line.ran.begin(), line.ran.end());
  if (!line.is_step) return false;
  const int64_t next = steps_.empty() ? 0 : steps_.rbegin()->first + 1;
  const int64_t number = line.step.value_or(next);
  const bool is_new = !steps_.contains(number);
  if (is_new && steps_.size() >= static_cast<size_t>(trial::kMostSteps)) return false;
  Step& step = steps_[number];
  if (line.step_s) {
    step.time_s = std::max(step.time_s.value_or(0.0), *line.step_s);
  } else if (is_new && last_step_) {
    step.time_s = std::chrono::duration<double>(now - *last_step_).count();
  }
  if (line.loss) step.loss = line.loss;
  if (is_new) last_step_ = now;
  return is_new;
}

std::vector<double> StepLog::TimesS() const {
  std::vector<double> times_s;
  // The last step of the warm-up stays, as the first time does not count.
  int32_t dropped = warm_up_steps_ - 1;
  for (const auto& [number, step] : steps_) {
    // The time of a first step without one is unknown, and takes part in nothing.
    if (dropped-- > 0) continue;
    times_s.push_back(step.time_s.value_or(0.0));
  }
  return times_s;
}

std::vector<double> StepLog::Losses() const {
  std::vector<double> losses;
  int32_t dropped = warm_up_steps_ - 1;
  for (const auto& [number, step] : steps_) {
    if (dropped-- > 0 || !step.loss) continue;
    losses.push_back(*step.loss);
  }
  return losses;
}

}  // namespace meshwright::command
