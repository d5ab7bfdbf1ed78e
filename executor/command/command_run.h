// CommandRun follows a trial's command, which runs as one process on each of one or several nodes:
// it reads the log and decides when the run ends.
//
// It has no processes and no clock: the caller passes in what was read, and when.
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
  // Set if the node's agent can't report `end`: says what became of the agent.
  std::string loss = {};
  trial::Fault fault = trial::Fault::kNone;  // of the loss; kNone: the agent was told to end
};

class CommandRun {
 public:
  // REQUIRES: `plan` and `runner` outlive the run, and `runner` was parsed, so its log's patterns
  // are regular expressions.
  CommandRun(const trial::TrialPlan& plan, const Runner& runner, LogClock::time_point now,
             const std::vector<RunNode>& nodes = {RunNode()});

  // Takes a piece of a node's output. Returns whether a step has ended.
  bool Take(std::string_view output, LogClock::time_point now, size_t node = 0);
  // Takes the end of a node's command. The last line may lack its newline.
  void TakeEnd(const NodeEnd& end, LogClock::time_point now, size_t node = 0);

  // Why the command has to be ended now.
  enum class Verdict : uint8_t {
    kGoesOn,
    kMeasured,      // enough steps are timed
    kContradicted,  // the framework did not run the layout
    kEnded,         // it ended on all nodes, or failed on one
    kTalksTooMuch,  // it printed more than kMostLogBytes
    kHung           // it made no progress for too long
  };
  Verdict Judge(LogClock::time_point now);

  // Returns the result of a run that was ended for `verdict`. REQUIRES: not kGoesOn.
  trial::TrialResult Conclude(Verdict verdict) const;
  // Returns what was measured, as a cancelled result.
  trial::TrialResult ConcludeCancelled() const;

  // The steps so far, with their times and losses.
  const StepLog& steps() const { return steps_; }
  // The end of the output, as valid UTF-8.
  std::string LogEnd() const;

 private:
  struct Node {
    RunNode at;
    std::string partial_line = {};
    bool skips_line = false;  // whether the rest of the line is skipped, as it is too long
    FailureSigns signs = {};
    std::optional<NodeEnd> end = {};

    bool failed() const;
  };

  // Appends to the node's partial line. Returns false if the line is too long and is skipped.
  static bool Extend(std::string_view output, Node& node);
  // Reads the node's partial line, and clears it. Returns whether a step has ended.
  bool TakeLine(LogClock::time_point now, size_t node);
  bool HasEnded(LogClock::time_point now) const;
  std::string Contradiction() const;
  trial::TrialResult Measured() const;
  // Fills in the outcome of a command that ended by itself.
  void AddEnd(trial::TrialResult& result) const;
  // Returns the failed node whose end best explains the ends of the others. REQUIRES: a node has
  // failed.
  const Node& Culprit() const;
  void AddFailure(const Node& node, trial::TrialResult& result) const;
  void AddOutOfMemory(const Node& node, trial::TrialResult& result) const;

  const trial::TrialPlan& plan_;
  const Runner& runner_;
  LogReader reader_;
  StepLog steps_;
  std::vector<Node> nodes_;
  // The only node whose lines without a step number count as steps, since every node may print a
  // line for the same step.
  std::optional<size_t> counting_node_;
  // When the command first failed on a node.
  std::optional<LogClock::time_point> failed_at_;
  std::string tail_;
  int64_t read_bytes_ = 0;
  bool has_stepped_ = false;
  LogClock::time_point began_;
  // Time of the last step, or of the last output if there is no step yet.
  LogClock::time_point last_sign_;
  trial::StopReason stop_reason_ = trial::StopReason::kNone;
};

}  // namespace meshwright::command
