// EngineCore's handling of results.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/utf8.h"
#include "executor/wire/event_details.h"
#include "nlohmann/json.hpp"
#include "server/engine/caller_name.h"
#include "server/engine/engine_core.h"

namespace meshwright::server {
namespace {

// An agent that is about to end cancels its attempts, and any attempt that it gets before it is
// gone.
constexpr int32_t kMostUnaskedCancels = 8;

constexpr FinishVerdict::Outcome kStored = FinishVerdict::Outcome::kStored;

std::string Summary(const trial::TrialResult& result) {
  if (result.outcome != trial::TrialOutcome::kOk) {
    return ValidUtf8(result.message.substr(0, result.message.find('\n')));
  }
  std::string text = absl::StrFormat("%.4g s per step", result.step_s);
  if (result.step_interval) {
    absl::StrAppendFormat(&text, " (%.4g to %.4g)", result.step_interval->low_s,
                          result.step_interval->high_s);
  }
  if (result.peak_flops.has_value()) {
    absl::StrAppendFormat(&text, ", MFU %.1f %% (causal %.1f %%) of the cluster's peak",
                          100 * result.mfu_of_peak, 100 * result.mfu_causal_of_peak);
  }
  return text;
}

// Returns the agent whose part of the attempt failed; empty if that can't be determined. The
// leader knows of all members.
std::string FailedAgent(const TrialFinished& event, const GivenAttempt& attempt) {
  const trial::TrialResult& result = event.digested->result;
  const bool leads = event.agent == attempt.leader();
  if (leads && attempt.Find(result.failed_agent) != nullptr) return result.failed_agent;
  return leads && result.fault == trial::Fault::kNetwork ? "" : event.agent;
}

// Returns "agent b: rank 2 was killed", unless the message already names the agent.
std::string WhyItFailed(const std::string& agent, const std::string& message) {
  const std::string named = absl::StrCat("agent ", agent);
  return agent.empty() || absl::StartsWith(message, named) ? message
                                                           : absl::StrCat(named, ": ", message);
}

std::string ResultEvent(const std::string& layout, std::string_view state,
                        const DigestedResult& digested) {
  const trial::TrialResult& result = digested.result;
  wire::TrialLeft left{.layout = layout, .state = std::string(state)};
  left.step_s = digested.measured.step_s;
  if (result.step_interval) {
    left.step_low_s = result.step_interval->low_s;
    left.step_high_s = result.step_interval->high_s;
  }
  if (digested.measured.mfu) {
    left.mfu = digested.measured.mfu;
    left.mfu_causal = result.mfu_causal_of_peak;
  }
  left.peak_bytes = digested.measured.peak_bytes;
  left.message = result.message;
  return ToJson(std::move(left)).dump();
}

}  // namespace

FinishVerdict EngineCore::Refuse(const TrialFinished& event, absl::StatusCode code,
                                 const std::string& reason, const Found& found) {
  db::EventRecord record{.sweep_id = found.sweep->id(),
                         .trial = event.key.trial,
                         .attempt = event.key.attempt,
                         .kind = "result_refused",
                         .time = wall_};
  record.message =
      absl::StrCat("result of ", DelivererName(event.agent, event.told_by), " refused: ", reason);
  record.data_json = ToJson(event.digested->delivered).dump();
  LogFields about = wire::AboutAttempt(event.key, event.agent);
  about.code = absl::StatusCodeToString(code);
  Log(LogLevel::kWarning, record.message, std::move(about));
  output_.ops.emplace_back(std::move(record));
  return Refused(code, reason);
}

FinishVerdict EngineCore::TakeCancelled(const TrialFinished& event, const Found& found,
                                        const FinishVerdict& verdict) {
  if (found.trial->HeldBy(event.agent, event.key.attempt) == nullptr) return verdict;
  ConnectedAgent* const agent = agents_.Find(event.agent);
  if (agent != nullptr && ++agent->unasked_cancels > kMostUnaskedCancels + agent->info.slots) {
    NoteFailure(event.agent, absl::StrCat("it stopped ", agent->unasked_cancels,
                                          " attempts in a row that nobody cancelled"));
  }
  Unassign(found,
           {false, absl::StrCat("agent ", event.agent, " stopped the trial, which runs again")},
           Left::kReturned, event.agent);
  return verdict;
}

FinishVerdict EngineCore::TakeFault(const TrialFinished& event, const GivenAttempt& attempt,
                                    const Found& found) {
  const std::string agent = FailedAgent(event, attempt);
  const std::string why = WhyItFailed(agent, Summary(event.digested->result));
  if (found.trial->HeldBy(event.agent, event.key.attempt) == nullptr) {
    return Refuse(event, absl::StatusCode::kAborted,
                  "the attempt was given up before its agent reported an infrastructure failure",
                  found);
  }
  // The connection that failed may have been that of an agent which is gone and comes back.
  const bool is_between = event.digested->result.fault == trial::Fault::kNetwork;
  const AfterLoss after =
      is_between ? DecideAfterLoss(*found.trial, why, options_)
                 : DecideAfterFault(*found.trial, agent, why, *found.sweep, agents_, options_);
  if (after.for_want_of_an_agent && now_ < agents_return_until_) {
    return {FinishVerdict::Outcome::kRetry, "other agents may not be back yet",
            absl::StatusCode::kUnavailable};
  }
  if (!agent.empty()) NoteFailure(agent, why);
  // A connection has two ends: both may be at fault.
  if (is_between && !agent.empty() && agent != attempt.leader()) {
    NoteFailure(attempt.leader(), why);
  }
  if (after.fails) return Store(event, attempt, found);
  Unassign(found, after, is_between ? Left::kLost : Left::kBroken, agent);
  if (agent != event.agent) CancelOn(agent, event.key, after.reason);
  return Refused(absl::StatusCode::kAborted, after.reason);
}

FinishVerdict EngineCore::Store(const TrialFinished& event, const GivenAttempt& attempt,
                                const Found& found) {
  ActiveTrial& trial = *found.trial;
  const trial::TrialResult& result = event.digested->result;
  db::TrialTransition transition = TransitionOf(found);
  transition.to_state = StateAfter(result.outcome);
  transition.to_attempt = attempt.number;
  transition.reason = Summary(result);
  transition.agent = event.told_by ? CallerName(*event.told_by) : attempt.leader();
  transition.host = attempt.members.front().part.host;
  transition.measured = event.digested->measured;
  transition.told = event.told_by.has_value();
  transition.actor = event.told_by.value_or("");
  transition.event_kind = "trial_ended";
  transition.event_message = transition.reason;
  transition.event_data_json =
      ResultEvent(trial.layout, db::TrialStateName(transition.to_state), *event.digested);
  Log(LogLevel::kDebug,
      absl::StrCat(DelivererName(event.agent, event.told_by), " has the result ",
                   std::string(trial::TrialOutcomeName(result.outcome)), ": ", transition.reason),
      wire::AboutAttempt({found.sweep->name(), trial.number, attempt.number}, event.agent));
  if (const GivenAttempt* held = trial.Held(); held != nullptr) {
    const bool is_this = held->number == attempt.number;
    CancelMembers(*found.sweep, trial, *held, /*except=*/is_this ? event.agent : "",
                  absl::StrCat("attempt ", attempt.number, " gave the trial its result"));
  }
  trial.attempt = attempt.number;
  trial.measured = true;
  trial.step_s = event.digested->measured.step_s;
  trial.step_noise = event.digested->measured.step_noise;
  found.sweep->SetState(trial, transition.to_state);
  if (transition.to_state == db::TrialState::kOk && transition.measured->step_s) {
    std::optional<double>& best_s = found.sweep->best_step_s;
    best_s = std::min(best_s.value_or(*transition.measured->step_s), *transition.measured->step_s);
  }
  output_.ops.emplace_back(std::move(transition));
  if (!event.told_by && !MayPassElsewhere(result.fault)) {
    for (const GivenMember& member : attempt.members) NoteWorks(member.part.agent);
  }
  const absl::Status& problem = event.digested->problem;
  return problem.ok() ? FinishVerdict{kStored, ""}
                      : Refused(problem.code(), std::string(problem.message()));
}

FinishVerdict EngineCore::Take(const TrialFinished& event, const Found& found) {
  if (event.told_by) return TakeTold(event, found);
  ActiveTrial& trial = *found.trial;
  const GivenAttempt* const attempt = trial.FindAttempt(event.key.attempt);
  const trial::TrialResult& result = event.digested->result;
  ResultClaim claim = {.attempt = event.key.attempt,
                       .is_cancelled = result.outcome == trial::TrialOutcome::kCancelled,
                       .was_given = attempt != nullptr};
  if (attempt != nullptr && attempt->Find(event.agent) == nullptr) {
    claim.given_to = attempt->leader();
  }
  if (trial.measured) claim.measured = trial.attempt;
  if (const std::optional<FinishVerdict> verdict = VerdictOn(claim)) {
    if (verdict->kind == kStored) return *verdict;
    // No agent did anything wrong, so there is nothing to report.
    if (verdict->code == absl::StatusCode::kCancelled) return TakeCancelled(event, found, *verdict);
    return Refuse(event, verdict->code, verdict->reason, found);
  }
  if (result.outcome == trial::TrialOutcome::kOk && attempt->leader() != event.agent) {
    return Refuse(event, absl::StatusCode::kPermissionDenied,
                  absl::StrCat("agent ", attempt->leader(), " leads and has the measurement"),
                  found);
  }
  if (MayPassElsewhere(result.fault)) return TakeFault(event, GivenAttempt(*attempt), found);
  return Store(event, GivenAttempt(*attempt), found);
}

bool EngineCore::CanTakeResults() {
  if (store_is_up_) return true;
  output_.verdict = {FinishVerdict::Outcome::kRetry, "the store can't be written",
                     absl::StatusCode::kUnavailable};
  return false;
}

void EngineCore::On(const ResultCameLate& event) {
  if (!CanTakeResults()) return;
  if (ConnectedAgent* agent = agents_.Find(event.agent); agent != nullptr) {
    agents_.Answer(*agent, event.key, now_);
  }
  Advance();
}

void EngineCore::On(const TrialFinished& event) {
  if (!CanTakeResults()) return;
  const Found found = Find(event.key);
  if (found) {
    output_.verdict = Take(event, found);
  } else if (found.sweep != nullptr) {
    output_.verdict = Refused(absl::StatusCode::kNotFound,
                              absl::StrCat("the sweep has no trial ", event.key.trial));
  } else {
    output_.result_is_late = true;
  }
  const bool comes_again =
      output_.verdict && output_.verdict->kind == FinishVerdict::Outcome::kRetry;
  if (ConnectedAgent* agent = agents_.Find(event.agent); agent != nullptr && !comes_again) {
    agents_.Answer(*agent, event.key, now_);
  }
  Advance();
}

}  // namespace meshwright::server
