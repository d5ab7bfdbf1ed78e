#include "executor/command/command_run.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/utf8.h"
#include "executor/host/host.h"
#include "executor/trial/stop_rule.h"
#include "executor/trial/trial_runner.h"
#include "executor/trial/utilisation.h"
#include "planner/layout/keys.h"
#include "planner/measurement/metrics.h"

namespace meshwright::command {
namespace {

constexpr size_t kLogEndBytes = 4096;
// A command that prints before its first step, such as the progress of a compilation, may take this
// many timeouts for it.
constexpr double kTimeoutsToFirstStep = 20.0;
// If the command fails on a node, the others are given this long to say why: the cause may be
// theirs.
constexpr double kLastWordsS = 5.0;
// Exit codes by which shells say that a program can't be started.
constexpr int kExitCantExecute = 126;
constexpr int kExitNotFound = 127;

StepAmounts AmountsOf(const trial::TrialPlan& plan) {
  return {.tokens = plan.training.seq_len * plan.training.global_batch,
          .sequences = plan.training.global_batch,
          .ranks = plan.layout.devices()};
}

LogReader ReaderOf(const trial::TrialPlan& plan, const Runner& runner) {
  absl::StatusOr<LogReader> reader = LogReader::Make(runner.log, AmountsOf(plan));
  return *std::move(reader);
}

double SecondsSince(LogClock::time_point then, LogClock::time_point now) {
  return std::chrono::duration<double>(now - then).count();
}

void Fail(trial::TrialOutcome outcome, trial::Fault fault, std::string message,
          trial::TrialResult& result) {
  result.outcome = outcome;
  result.fault = fault;
  result.message = std::move(message);
}

bool IsGood(const NodeEnd& end) {
  return end.loss.empty() && end.end.kind == guard::EndKind::kExited && end.end.number == 0;
}

std::string HowItEnded(const guard::CommandEnd& end) {
  return end.kind == guard::EndKind::kSignalled
             ? absl::StrCat(" was killed by signal ", end.number, " (", strsignal(end.number), ")")
             : absl::StrCat(" ended with exit code ", end.number);
}

}  // namespace

CommandRun::CommandRun(const trial::TrialPlan& plan, const Runner& runner, LogClock::time_point now,
                       const std::vector<std::string>& agents)
    : plan_(plan),
      runner_(runner),
      reader_(ReaderOf(plan, runner)),
      steps_(runner.warm_up_steps),
      began_(now),
      last_sign_(now) {
  for (const std::string& agent : agents) nodes_.push_back({.agent = agent});
}

bool CommandRun::Take(std::string_view output, LogClock::time_point now, size_t number) {
  Node& node = nodes_[number];
  bool stepped = false;
  read_bytes_ += static_cast<int64_t>(output.size());
  tail_.append(output.substr(output.size() - std::min(output.size(), kLogEndBytes)));
  if (tail_.size() > kLogEndBytes) tail_.erase(0, tail_.size() - kLogEndBytes);
  // Progress bars end their lines with a carriage return.
  for (size_t end; (end = output.find_first_of("\n\r")) != std::string_view::npos;) {
    stepped |= Extend(output.substr(0, end), node) && TakeLine(now, node);
    node.partial_line.clear();
    node.skips_line = false;
    output.remove_prefix(end + 1);
  }
  if (Extend(output, node) && node.partial_line.size() >= kMaxLineBytes) {
    stepped |= TakeLine(now, node);
    node.skips_line = true;
  }
  if (stepped || !has_stepped_) last_sign_ = now;
  has_stepped_ |= stepped;
  return stepped;
}

bool CommandRun::Extend(std::string_view output, Node& node) {
  if (!node.skips_line) node.partial_line.append(output.substr(0, kMaxLineBytes));
  return !node.skips_line;
}

void CommandRun::TakeEnd(const NodeEnd& end, LogClock::time_point now, size_t number) {
  Node& node = nodes_[number];
  if (!node.skips_line) TakeLine(now, node);
  node.end = end;
  if (failed_ || IsGood(end)) return;
  failed_ = number;
  failed_at_ = now;
}

bool CommandRun::TakeLine(LogClock::time_point now, Node& node) {
  signs_.Add(node.partial_line);
  const bool stepped = steps_.Add(reader_.Read(node.partial_line), now);
  node.partial_line.clear();
  return stepped;
}

bool CommandRun::HasEnded(LogClock::time_point now) const {
  if (failed_) {
    const NodeEnd& end = *nodes_[*failed_].end;
    const bool was_told_to = !end.loss.empty() && end.fault == trial::Fault::kNone;
    if (was_told_to || SecondsSince(failed_at_, now) > kLastWordsS) return true;
  }
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [](const Node& node) { return node.end.has_value(); });
}

// Returns a sentence on the first key of which the framework made something else; empty if there is
// none.
std::string CommandRun::Contradiction() const {
  for (const auto& [name, value] : steps_.ran()) {
    for (const planner::LayoutKey& key : planner::kLayoutKeys) {
      if (key.name != name) continue;
      planner::Layout ran = plan_.layout;
      if (planner::ReadValue(key, value, ran).ok() && key.same(ran, plan_.layout)) continue;
      return absl::StrCat("the framework ran ", name, " = ", value, ", but the layout has ", name,
                          " = ", planner::ConditionText(key, plan_.layout));
    }
  }
  return "";
}

CommandRun::Verdict CommandRun::Judge(LogClock::time_point now) {
  if (!Contradiction().empty()) return Verdict::kContradicted;
  stop_reason_ = trial::DecideStop(
      steps_.TimesS(),
      {.steps = plan_.steps, .adaptive = plan_.adaptive, .beat_step_s = plan_.beat_step_s});
  if (stop_reason_ != trial::StopReason::kNone) return Verdict::kMeasured;
  if (HasEnded(now)) return Verdict::kEnded;
  if (read_bytes_ > kMostLogBytes) return Verdict::kTalksTooMuch;
  const bool is_silent = SecondsSince(last_sign_, now) > plan_.timeout_s;
  const bool never_begins =
      !has_stepped_ && SecondsSince(began_, now) > plan_.timeout_s * kTimeoutsToFirstStep;
  return is_silent || never_begins ? Verdict::kHung : Verdict::kGoesOn;
}

std::string CommandRun::LogEnd() const { return ValidUtf8(tail_); }

trial::TrialResult CommandRun::Measured() const {
  trial::TrialResult result;
  result.host = host::HostName();
  result.worker_version = trial::VersionOf(*plan_.runner);
  result.step_times_s = steps_.TimesS();
  result.losses = steps_.Losses();
  result.log_end = LogEnd();
  trial::RankResult rank;
  rank.peak_bytes = steps_.peak_bytes().value_or(0);
  if (!plan_.estimated_bytes.empty()) {
    rank.estimated_bytes =
        *std::max_element(plan_.estimated_bytes.begin(), plan_.estimated_bytes.end());
  }
  result.ranks.push_back(std::move(rank));
  return result;
}

void CommandRun::AddOutOfMemory(trial::TrialResult& result) const {
  const int32_t most = static_cast<int32_t>(plan_.layout.devices()) - 1;
  trial::OomDetail oom;
  oom.rank = std::clamp(signs_.out_of_memory_rank().value_or(0), 0, most);
  oom.pipeline_rank = oom.rank / static_cast<int32_t>(plan_.layout.devices() / plan_.layout.pp);
  oom.requested_bytes = signs_.requested_bytes();
  oom.limit_bytes = plan_.memory_limit_bytes.value_or(0);
  result.oom = oom;
  Fail(trial::TrialOutcome::kOom, trial::Fault::kLayout,
       absl::StrCat("the command ran out of memory: ", ValidUtf8(signs_.out_of_memory())), result);
}

void CommandRun::AddEnd(trial::TrialResult& result) const {
  if (failed_) {
    const Node& node = nodes_[*failed_];
    AddFailure(node, result);
    if (result.fault == trial::Fault::kInfrastructure) result.failed_agent = node.agent;
    return;
  }
  Fail(trial::TrialOutcome::kFailed, trial::Fault::kLayout,
       absl::StrCat("the command", HowItEnded(nodes_.front().end->end), " after ",
                    result.step_times_s.size(), " of ", plan_.steps,
                    " steps, too early to be measured"),
       result);
}

void CommandRun::AddFailure(const Node& node, trial::TrialResult& result) const {
  using guard::EndKind;
  if (!node.end->loss.empty()) {
    return Fail(trial::TrialOutcome::kFailed, node.end->fault, node.end->loss, result);
  }
  const guard::CommandEnd& end = node.end->end;
  if (end.kind == EndKind::kCannotStart) {
    return Fail(trial::TrialOutcome::kFailed, trial::Fault::kInfrastructure,
                absl::StrCat(runner_.argv[0], " can't be started: ", std::strerror(end.number)),
                result);
  }
  if (end.kind == EndKind::kLost) {
    return Fail(trial::TrialOutcome::kFailed, trial::Fault::kInfrastructure,
                "the guard of the command was killed, and the command with it", result);
  }
  if (!signs_.out_of_memory().empty()) return AddOutOfMemory(result);
  const std::string whose = node.agent.empty() ? "" : absl::StrCat(" of agent ", node.agent);
  const std::string how = absl::StrCat("the command", whose, HowItEnded(end), " after ",
                                       result.step_times_s.size(), " of ", plan_.steps, " steps");
  // What kills a command from outside, a port that was taken and a program that is not there may
  // be so on this node alone.
  const std::string& outside = signs_.killed().empty() ? signs_.port_in_use() : signs_.killed();
  const bool never_ran = end.number == kExitCantExecute || end.number == kExitNotFound;
  const bool from_outside =
      end.kind == EndKind::kSignalled || !outside.empty() || (never_ran && !has_stepped_);
  const std::string& why = outside.empty() ? signs_.last_error() : outside;
  Fail(trial::TrialOutcome::kFailed,
       from_outside ? trial::Fault::kInfrastructure : trial::Fault::kLayout,
       why.empty() ? how : absl::StrCat(how, ": ", ValidUtf8(why)), result);
}

trial::TrialResult CommandRun::Conclude(Verdict verdict) const {
  trial::TrialResult result = Measured();
  switch (verdict) {
    case Verdict::kMeasured: {
      const auto first = trial::FirstTimedStep(static_cast<int32_t>(result.step_times_s.size()));
      const std::vector<double> timed_s(result.step_times_s.begin() + first,
                                        result.step_times_s.end());
      result.outcome = trial::TrialOutcome::kOk;
      result.step_s = planner::Median(timed_s).value_or(0.0);
      result.step_interval = trial::MedianConfidence(timed_s);
      result.stop_reason = stop_reason_;
      trial::AddUtilisation(plan_, plan_.layout.devices(), result);
      return result;
    }
    case Verdict::kContradicted:
      Fail(trial::TrialOutcome::kFailed, trial::Fault::kLayout, Contradiction(), result);
      break;
    case Verdict::kTalksTooMuch:
      Fail(trial::TrialOutcome::kFailed, trial::Fault::kLayout,
           absl::StrCat("the command printed more than ", kMostLogBytes, " bytes"), result);
      break;
    case Verdict::kHung:
      Fail(trial::TrialOutcome::kTimeout, trial::Fault::kInfrastructure,
           absl::StrCat("the command finished no step for ", plan_.timeout_s, " s, after ",
                        result.step_times_s.size(), " of ", plan_.steps, " steps"),
           result);
      break;
    case Verdict::kEnded:
      AddEnd(result);
      break;
    case Verdict::kGoesOn:
      break;
  }
  return result;
}

trial::TrialResult CommandRun::ConcludeCancelled() const {
  trial::TrialResult result = Measured();
  Fail(trial::TrialOutcome::kCancelled, trial::Fault::kNone,
       absl::StrCat("cancelled after ", result.step_times_s.size(), " of ", plan_.steps, " steps"),
       result);
  return result;
}

}  // namespace meshwright::command
