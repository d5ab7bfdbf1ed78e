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

// Returns the values of the steps that the plan asks for. A command goes on until it is ended, so
// further steps may have been read together with the last one.
std::vector<double> AskedFor(std::vector<double> values, const trial::TrialPlan& plan) {
  values.resize(std::min(values.size(), static_cast<size_t>(plan.steps)));
  return values;
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
                       const std::vector<RunNode>& nodes)
    : plan_(plan),
      runner_(runner),
      reader_(ReaderOf(plan, runner)),
      steps_(runner.warm_up_steps),
      began_(now),
      last_sign_(now) {
  for (const RunNode& node : nodes) nodes_.push_back({.at = node});
}

bool CommandRun::Node::failed() const { return end.has_value() && !IsGood(*end); }

bool CommandRun::Take(std::string_view output, LogClock::time_point now, size_t number) {
  Node& node = nodes_[number];
  bool stepped = false;
  read_bytes_ += static_cast<int64_t>(output.size());
  tail_.append(output.substr(output.size() - std::min(output.size(), kLogEndBytes)));
  if (tail_.size() > kLogEndBytes) tail_.erase(0, tail_.size() - kLogEndBytes);
  // Progress bars end their lines with a carriage return.
  for (size_t end; (end = output.find_first_of("\n\r")) != std::string_view::npos;) {
    stepped |= Extend(output.substr(0, end), node) && TakeLine(now, number);
    node.partial_line.clear();
    node.skips_line = false;
    output.remove_prefix(end + 1);
  }
  if (Extend(output, node) && node.partial_line.size() >= kMaxLineBytes) {
    stepped |= TakeLine(now, number);
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
  if (!node.skips_line) TakeLine(now, number);
  node.end = end;
  if (node.failed() && !failed_at_) failed_at_ = now;
}

bool CommandRun::TakeLine(LogClock::time_point now, size_t number) {
  Node& node = nodes_[number];
  node.signs.Add(node.partial_line);
  LoggedLine line = reader_.Read(node.partial_line);
  node.partial_line.clear();
  if (line.is_step && !line.step) {
    line.is_step = counting_node_.value_or(number) == number;
    counting_node_ = counting_node_.value_or(number);
  }
  return steps_.Add(line, now);
}

bool CommandRun::HasEnded(LogClock::time_point now) const {
  const bool was_told_to = std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
    return node.end && !node.end->loss.empty() && node.end->fault == trial::Fault::kNone;
  });
  if (was_told_to || (failed_at_ && SecondsSince(*failed_at_, now) > kLastWordsS)) return true;
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
  result.step_times_s = AskedFor(steps_.TimesS(), plan_);
  result.losses = AskedFor(steps_.Losses(), plan_);
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

void CommandRun::AddOutOfMemory(const Node& node, trial::TrialResult& result) const {
  const int32_t most = static_cast<int32_t>(plan_.layout.devices()) - 1;
  const int32_t likely = plan_.slice ? most : node.at.first_rank;
  trial::OomDetail oom;
  oom.rank = std::clamp(node.signs.out_of_memory_rank().value_or(likely), 0, most);
  oom.pipeline_rank = oom.rank / static_cast<int32_t>(plan_.layout.devices() / plan_.layout.pp);
  oom.requested_bytes = node.signs.requested_bytes();
  oom.limit_bytes = plan_.memory_limit_bytes.value_or(0);
  result.oom = oom;
  Fail(trial::TrialOutcome::kOom, trial::Fault::kLayout,
       absl::StrCat("the command ran out of memory: ", ValidUtf8(node.signs.out_of_memory())),
       result);
}

const CommandRun::Node& CommandRun::Culprit() const {
  // What happens to a node from outside explains that the others lose their connections to it.
  const auto order = [](const Node& node) {
    if (!node.failed()) return 4;
    if (!node.end->loss.empty() || node.end->end.kind != guard::EndKind::kExited) return 0;
    if (!node.signs.killed().empty()) return 1;
    return node.signs.is_lost_connection() ? 3 : 2;
  };
  return *std::min_element(nodes_.begin(), nodes_.end(),
                           [&](const Node& a, const Node& b) { return order(a) < order(b); });
}

void CommandRun::AddEnd(trial::TrialResult& result) const {
  if (!failed_at_) {
    Fail(trial::TrialOutcome::kFailed, trial::Fault::kLayout,
         absl::StrCat("the command", HowItEnded(nodes_.front().end->end), " after ",
                      result.step_times_s.size(), " of ", plan_.steps,
                      " steps, too early to be measured"),
         result);
    return;
  }
  const Node& culprit = Culprit();
  AddFailure(culprit, result);
  if (culprit.at.agent.empty()) return;
  // A connection that two nodes lost to each other is neither's.
  const bool is_its_own =
      !culprit.end->loss.empty() || result.fault == trial::Fault::kInfrastructure;
  if (is_its_own && trial::MayPassElsewhere(result.fault)) result.failed_agent = culprit.at.agent;
  if (culprit.end->loss.empty() && result.outcome == trial::TrialOutcome::kFailed) {
    result.message = absl::StrCat("agent ", culprit.at.agent, ": ", result.message);
  }
}

void CommandRun::AddFailure(const Node& node, trial::TrialResult& result) const {
  using guard::EndKind;
  const guard::CommandEnd& end = node.end->end;
  const auto fail = [&](trial::Fault fault, std::string message) {
    Fail(trial::TrialOutcome::kFailed, fault, std::move(message), result);
  };
  if (!node.end->loss.empty()) return fail(node.end->fault, node.end->loss);
  const bool never_ran = end.kind == EndKind::kExited && !has_stepped_ &&
                         (end.number == kExitCantExecute || end.number == kExitNotFound);
  if (end.kind == EndKind::kCannotStart || (never_ran && !node.at.agent.empty())) {
    const std::string why = end.kind == EndKind::kCannotStart
                                ? std::strerror(end.number)
                                : absl::StrCat("exit code ", end.number);
    return fail(trial::Fault::kInfrastructure,
                absl::StrCat(runner_.argv[0], " can't be started: ", why));
  }
  if (end.kind == EndKind::kLost) {
    return fail(trial::Fault::kInfrastructure,
                "the guard of the command was killed, and the command with it");
  }
  for (const Node& one : nodes_) {
    if (!one.signs.out_of_memory().empty()) return AddOutOfMemory(one, result);
  }
  const std::string how = absl::StrCat("the command", HowItEnded(end), " after ",
                                       result.step_times_s.size(), " of ", plan_.steps, " steps");
  const FailureSigns& signs = node.signs;
  const std::string& outside = signs.killed().empty() ? signs.port_in_use() : signs.killed();
  const std::string& why = outside.empty() ? signs.last_error() : outside;
  // What kills a command from outside, a port that was taken and a program that is not there may
  // be so on this node alone; a connection between nodes may hold the next time.
  const bool from_outside = end.kind == EndKind::kSignalled || !outside.empty() || never_ran;
  const bool is_network = nodes_.size() > 1 && signs.is_lost_connection();
  fail(from_outside ? trial::Fault::kInfrastructure
       : is_network ? trial::Fault::kNetwork
                    : trial::Fault::kLayout,
       why.empty() ? how : absl::StrCat(how, ": ", ValidUtf8(why)));
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
      // Any of several nodes may be the one that keeps the others waiting.
      Fail(trial::TrialOutcome::kTimeout,
           nodes_.size() > 1 ? trial::Fault::kNetwork : trial::Fault::kInfrastructure,
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
