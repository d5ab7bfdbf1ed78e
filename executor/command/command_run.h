// CommandRun is what is known of a trial's command that runs, on one node or on several, a process
// on each: its log so far, and what ends the run.
//
// It knows no processes and no clock of its own: what was read, and when, is given to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/command/failure_signs.h"
#include "executor/command/log_reader.h"
#include "executor/command/runner.h"
#include "executor/command/step_log.h"
#include "executor/guard/guarded_process.h"
#include "executor/trial/trial.h"

namespace meshwright::command {

// A command may print at most this much.
inline constexpr int64_t kMostLogBytes = int64_t{256} << 20;

// A node on which the command runs.
struct RunNode {
  std::string agent = {};  // empty: this host, which messages don't name
  int32_t first_rank = 0;
};

// How the command of a node ended.
struct NodeEnd {
  guard::CommandEnd end = {.kind = guard::EndKind::kExited, .number = 0};
  // Set instead of `end` if the node's agent can't tell it: what became of the agent.
  std::string loss = {};
  trial::Fault fault = trial::Fault::kNone;  // of the loss; kNone: the agent was told to end
};

class CommandRun {
 public:
  // REQUIRES: `plan` and `runner` outlive the run, and `runner` was parsed, so its log's patterns
  // are regular expressions.
  CommandRun(const trial::TrialPlan& plan, const Runner& runner, LogClock::time_point now,
             const std::vector<RunNode>& nodes = {RunNode()});

  // Takes a part of a node's output. Returns whether a step has ended.
  bool Take(std::string_view output, LogClock::time_point now, size_t node = 0);
  // Takes the end of a node's command. The last line may lack its end.
  void TakeEnd(const NodeEnd& end, LogClock::time_point now, size_t node = 0);

  // Why the command has to be ended now.
  enum class Verdict : uint8_t {
    kGoesOn,
    kMeasured,      // enough steps are timed
    kContradicted,  // the framework did not run the layout
    kEnded,         // it ended on all nodes, or failed on one
    kTalksTooMuch,  // it printed more than kMostLogBytes
    kHung           // it gave no sign of life for the plan's timeout
  };
  Verdict Judge(LogClock::time_point now);

  // Returns the result of a run that was ended for `verdict`. REQUIRES: not kGoesOn.
  trial::TrialResult Conclude(Verdict verdict) const;
  // Returns what was measured, as a cancelled result.
  trial::TrialResult ConcludeCancelled() const;

  // The steps that count so far, with the last one's time and loss.
  const StepLog& steps() const { return steps_; }
  // The last lines of the output, valid UTF-8.
  std::string LogEnd() const;

 private:
  struct Node {
    RunNode at;
    std::string partial_line = {};
    bool skips_line = false;  // the rest of a line that is too long
    FailureSigns signs = {};
    std::optional<NodeEnd> end = {};

    bool failed() const;
  };

  // Appends to the line that is read. Returns false if the line is too long and is skipped.
  static bool Extend(std::string_view output, Node& node);
  // Reads the node's line so far, and empties it. Returns whether a step has ended.
  bool TakeLine(LogClock::time_point now, size_t node);
  bool HasEnded(LogClock::time_point now) const;
  std::string Contradiction() const;
  trial::TrialResult Measured() const;
  // Fills in the outcome of a command that ended by itself.
  void AddEnd(trial::TrialResult& result) const;
  // Returns the failed node whose end explains the others' best. REQUIRES: a node has failed.
  const Node& Culprit() const;
  void AddFailure(const Node& node, trial::TrialResult& result) const;
  void AddOutOfMemory(const Node& node, trial::TrialResult& result) const;

  const trial::TrialPlan& plan_;
  const Runner& runner_;
  LogReader reader_;
  StepLog steps_;
  std::vector<Node> nodes_;
  // The node whose lines count as steps, if they have no number: each node may print its own.
  std::optional<size_t> counting_node_;
  // When the command first ended on a node with another exit code than 0.
  std::optional<LogClock::time_point> failed_at_;
  std::string tail_;
  int64_t read_bytes_ = 0;
  bool has_stepped_ = false;
  LogClock::time_point began_;
  LogClock::time_point last_sign_;  // of the last step; before the first, of the last output
  trial::StopReason stop_reason_ = trial::StopReason::kNone;
};

}  // namespace meshwright::command
