// CommandRun is what is known of a command that runs: its log so far, and what ends the run.
//
// It knows no processes and no clock of its own: what was read, and when, is given to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "executor/command/failure_signs.h"
#include "executor/command/log_reader.h"
#include "executor/command/runner.h"
#include "executor/command/step_log.h"
#include "executor/guard/guarded_process.h"
#include "executor/trial/trial.h"

namespace meshwright::command {

// A command may print at most this much.
inline constexpr int64_t kMostLogBytes = int64_t{256} << 20;

class CommandRun {
 public:
  // REQUIRES: `plan` and `runner` outlive the run, and `runner` was parsed, so its log's patterns
  // are regular expressions.
  CommandRun(const trial::TrialPlan& plan, const Runner& runner, LogClock::time_point now);

  // Takes a part of the output. Returns whether a step has ended.
  bool Take(std::string_view output, LogClock::time_point now);
  // Takes the last line, which may lack its end.
  void TakeEnd(LogClock::time_point now);

  // Why the command has to be ended now.
  enum class Verdict : uint8_t {
    kGoesOn,
    kMeasured,      // enough steps are timed
    kContradicted,  // the framework did not run the layout
    kTalksTooMuch,  // it printed more than kMostLogBytes
    kHung           // it gave no sign of life for the plan's timeout
  };
  Verdict Judge(LogClock::time_point now);

  // Returns the result of a run that was ended for `verdict`, or that ended by itself as `end` says
  // (kGoesOn).
  trial::TrialResult Conclude(Verdict verdict, const guard::CommandEnd& end) const;
  // Returns what was measured, as a cancelled result.
  trial::TrialResult ConcludeCancelled() const;

  // The steps that count so far, with the last one's time and loss.
  const StepLog& steps() const { return steps_; }
  // The last lines of the output, valid UTF-8.
  std::string LogEnd() const;

 private:
  // Appends to the line that is read. Returns false if the line is too long and is skipped.
  bool Extend(std::string_view output);
  // Reads the line so far, and empties it. Returns whether a step has ended.
  bool TakeLine(LogClock::time_point now);
  std::string Contradiction() const;
  trial::TrialResult Measured() const;
  // Fills in the outcome of a command that ended by itself.
  void AddEnd(const guard::CommandEnd& end, trial::TrialResult& result) const;
  void AddOutOfMemory(trial::TrialResult& result) const;

  const trial::TrialPlan& plan_;
  const Runner& runner_;
  LogReader reader_;
  StepLog steps_;
  FailureSigns signs_;
  std::string partial_line_;
  bool skips_line_ = false;  // the rest of a line that is too long
  std::string tail_;
  int64_t read_bytes_ = 0;
  bool has_stepped_ = false;
  LogClock::time_point began_;
  LogClock::time_point last_sign_;  // of the last step; before the first, of the last output
  trial::StopReason stop_reason_ = trial::StopReason::kNone;
};

}  // namespace meshwright::command
