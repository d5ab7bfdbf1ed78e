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

std::string HowItEnded(const guard::CommandEnd& end) {
  return end.kind == guard::EndKind::kSignalled
             ? absl::StrCat("the command was killed by signal ", end.number, " (",
                            strsignal(end.number), ")")
             : absl::StrCat("the command ended with exit code ", end.number);
}

}  // namespace

CommandRun::CommandRun(const trial::TrialPlan& plan, const Runner& runner, LogClock::time_point now)
    : plan_(plan),
      runner_(runner),
      reader_(ReaderOf(plan, runner)),
      steps_(runner.warm_up_steps),
      began_(now),
      last_sign_(now) {}

bool CommandRun::Take(std::string_view output, LogClock::time_point now) {
  bool stepped = false;
  read_bytes_ += static_cast<int64_t>(output.size());
  tail_.append(output.substr(output.size() - std::min(output.size(), kLogEndBytes)));
  if (tail_.size() > kLogEndBytes) tail_.erase(0, tail_.size() - kLogEndBytes);
  // Progress bars end their lines with a carriage return.
  for (size_t end; (end = output.find_first_of("\n\r")) != std::string_view::npos;) {
    stepped |= Extend(output.substr(0, end)) && TakeLine(now);
    partial_line_.clear();
    skips_line_ = false;
    output.remove_prefix(end + 1);
  }
  if (Extend(output) && partial_line_.size() >= kMaxLineBytes) {
    stepped |= TakeLine(now);
    skips_line_ = true;
  }
  if (stepped || !has_stepped_) last_sign_ = now;
  has_stepped_ |= stepped;
  return stepped;
}

bool CommandRun::Extend(std::string_view output) {
  if (!skips_line_) partial_line_.append(output.substr(0, kMaxLineBytes));
  return !skips_line_;
}

void CommandRun::TakeEnd(LogClock::time_point now) {
  if (!skips_line_) TakeLine(now);
}

bool CommandRun::TakeLine(LogClock::time_point now) {
  signs_.Add(partial_line_);
  const bool stepped = steps_.Add(reader_.Read(partial_line_), now);
  partial_line_.clear();
  return stepped;
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

void CommandRun::AddEnd(const guard::CommandEnd& end, trial::TrialResult& result) const {
  using guard::EndKind;
  if (end.kind == EndKind::kCannotStart) {
    Fail(trial::TrialOutcome::kFailed, trial::Fault::kInfrastructure,
         absl::StrCat(runner_.argv[0], " can't be started: ", std::strerror(end.number)), result);
    return;
  }
  if (end.kind == EndKind::kLost) {
    Fail(trial::TrialOutcome::kFailed, trial::Fault::kInfrastructure,
         "the guard of the command was killed, and the command with it", result);
    return;
  }
  const std::string how = absl::StrCat(HowItEnded(end), " after ", result.step_times_s.size(),
                                       " of ", plan_.steps, " steps");
  if (end.kind == EndKind::kExited && end.number == 0) {
    Fail(trial::TrialOutcome::kFailed, trial::Fault::kLayout,
         absl::StrCat(how, ", too early to be measured"), result);
    return;
  }
  if (!signs_.out_of_memory().empty()) return AddOutOfMemory(result);
  // What kills a command from outside, and a port that was taken, may not come again.
  const std::string& outside = signs_.killed().empty() ? signs_.port_in_use() : signs_.killed();
  const bool from_outside = end.kind == EndKind::kSignalled || !outside.empty();
  const std::string& why = outside.empty() ? signs_.last_error() : outside;
  Fail(trial::TrialOutcome::kFailed,
       from_outside ? trial::Fault::kInfrastructure : trial::Fault::kLayout,
       why.empty() ? how : absl::StrCat(how, ": ", ValidUtf8(why)), result);
}

trial::TrialResult CommandRun::Conclude(Verdict verdict, const guard::CommandEnd& end) const {
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
    case Verdict::kGoesOn:
      AddEnd(end, result);
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
