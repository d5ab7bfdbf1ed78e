// The part of SweepEngine that takes results.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/agent/event_details.h"
#include "executor/trial/result_check.h"
#include "executor/trial/utilisation.h"
#include "nlohmann/json.hpp"
#include "planner/base/status_macros.h"
#include "planner/base/utf8.h"
#include "planner/codec/json_text.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/sweep_engine.h"

namespace meshwright::server {
namespace {

db::TrialState StateAfter(trial::TrialOutcome outcome) {
  switch (outcome) {
    case trial::TrialOutcome::kOk:
      return db::TrialState::kOk;
    case trial::TrialOutcome::kOom:
      return db::TrialState::kOom;
    case trial::TrialOutcome::kTimeout:
      return db::TrialState::kTimeout;
    case trial::TrialOutcome::kFailed:
    case trial::TrialOutcome::kCancelled:
      return db::TrialState::kFailed;
  }
  return db::TrialState::kFailed;
}

db::MeasuredTrial Measured(const trial::TrialResult& result) {
  db::MeasuredTrial measured;
  measured.result_json = ToJson(result).dump();
  measured.worker_version = result.worker_version;
  for (const trial::RankResult& rank : result.ranks) {
    measured.peak_bytes = std::max(measured.peak_bytes.value_or(0), rank.peak_bytes);
  }
  if (result.outcome == trial::TrialOutcome::kOk) {
    if (result.peak_flops.has_value()) measured.mfu = result.mfu_of_peak;
    measured.step_s = result.step_s;
  }
  return measured;
}

// MFU as shares of the peak that the trial was planned for, whatever its worker knew: those of a
// sweep compare, on whichever agents they ran.
trial::TrialResult AgainstThePlansPeak(trial::TrialResult result, const std::string& plan_json) {
  if (result.outcome != trial::TrialOutcome::kOk) return result;
  const absl::StatusOr<nlohmann::json> json = planner::ParseJson("plan", plan_json);
  if (!json.ok()) return result;
  const absl::StatusOr<trial::TrialPlan> plan = trial::TrialPlanFromJson(*json);
  if (plan.ok()) trial::AddUtilisation(*plan, plan->layout.devices(), result);
  return result;
}

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

std::string ResultEvent(const db::TrialRecord& trial, std::string_view state,
                        const trial::TrialResult& result, const db::MeasuredTrial& measured) {
  agent::TrialLeft left{.layout = trial.layout, .state = std::string(state)};
  left.step_s = measured.step_s;
  if (result.step_interval) {
    left.step_low_s = result.step_interval->low_s;
    left.step_high_s = result.step_interval->high_s;
  }
  if (measured.mfu) {
    left.mfu = measured.mfu;
    left.mfu_causal = result.mfu_causal_of_peak;
  }
  left.peak_bytes = measured.peak_bytes;
  left.message = result.message;
  return ToJson(std::move(left)).dump();
}

// What stands for a result that can't be one.
trial::TrialResult Unusable(const trial::TrialResult& result, const absl::Status& problem) {
  trial::TrialResult failed;
  failed.outcome = trial::TrialOutcome::kFailed;
  failed.message = absl::StrCat("what the agent measured can't be right: ", problem.message());
  failed.worker_version = result.worker_version;
  failed.host = result.host;
  return failed;
}

FinishVerdict Retry(absl::string_view reason) {
  return {FinishVerdict::Kind::kRetry, std::string(reason)};
}

// Why no result of an attempt that was given out is taken from this agent; empty where one is.
std::string WhyNone(const db::AttemptRecord& attempt, const std::string& agent,
                    const db::SweepRecord& sweep, const db::TrialRecord& trial) {
  if (attempt.agent != agent) {
    return absl::StrCat("attempt ", attempt.number, " was given to agent ", attempt.agent);
  }
  if (trial.measured) return absl::StrCat("attempt ", trial.attempt, " had a result before");
  if (!db::HasEnded(sweep.state)) return "";
  const std::string_view state = db::SweepStateName(sweep.state);
  return absl::StrCat("the sweep is ", absl::string_view(state.data(), state.size()));
}

}  // namespace

absl::StatusOr<db::AttemptRecord> SweepEngine::FindAttempt(const FoundTrial& found,
                                                           int32_t attempt) {
  ASSIGN_OR_RETURN(const std::vector<db::AttemptRecord> attempts,
                   store_->ListAttempts(found.sweep.id, found.trial.number));
  for (const db::AttemptRecord& candidate : attempts) {
    if (candidate.number == attempt) return candidate;
  }
  return absl::NotFoundError(absl::StrCat("attempt ", attempt, " was never given out"));
}

FinishVerdict SweepEngine::Refuse(const agent::AttemptKey& key, const std::string& reason,
                                  const FoundTrial& found, const std::string& agent,
                                  const trial::TrialResult& result) {
  db::EventRecord event{.sweep_id = found.sweep.id,
                        .trial = key.trial,
                        .attempt = key.attempt,
                        .kind = "result_refused",
                        .time = clock_()};
  event.message = absl::StrCat("result of agent ", agent, " refused: ", reason);
  event.data_json = ToJson(result).dump();
  if (!Done(store_->AppendEvent(event).status(), found.sweep.id)) {
    return Retry("the store can't be written");
  }
  return {FinishVerdict::Kind::kRefused, reason};
}

FinishVerdict SweepEngine::TakeCancelled(const agent::AttemptKey& key, const std::string& agent,
                                         const FoundTrial& found) {
  const db::TrialRecord& trial = found.trial;
  const FinishVerdict refused{FinishVerdict::Kind::kRefused, "a cancelled attempt has no result"};
  if (!db::IsHeld(trial.state) || trial.attempt != key.attempt || trial.agent != agent)
    return refused;
  const bool requeued = Unassign({ActionType::kRequeue, found.sweep.id, trial.number, "",
                                  absl::StrCat("agent ", agent, " stopped it; it runs again")},
                                 trial, /*lost=*/false);
  return requeued ? refused : Retry("the store can't be written");
}

FinishVerdict SweepEngine::Store(const db::AttemptRecord& attempt, const FoundTrial& found,
                                 const trial::TrialResult& result) {
  const db::TrialRecord& trial = found.trial;
  const db::TrialState state = StateAfter(result.outcome);
  db::TrialTransition transition{.sweep_id = found.sweep.id,
                                 .number = trial.number,
                                 .from_state = trial.state,
                                 .from_attempt = trial.attempt,
                                 .to_state = state,
                                 .to_attempt = attempt.number,
                                 .reason = Summary(result),
                                 .agent = attempt.agent,
                                 .host = attempt.host,
                                 .measured = Measured(result),
                                 .event_kind = "trial_ended",
                                 .event_message = Summary(result),
                                 .time = clock_()};
  transition.event_data_json =
      ResultEvent(trial, db::TrialStateName(state), result, *transition.measured);
  if (!Done(store_->UpdateTrial(transition), found.sweep.id)) {
    return Retry("the store can't be written");
  }
  Log(absl::StrCat(FormatTrialName(found.sweep.name, trial.number), ": ",
                   std::string(trial::TrialOutcomeName(result.outcome)), " by agent ",
                   attempt.agent, ": ", Summary(result)),
      host::LogLevel::kDebug);
  if (db::IsHeld(trial.state) && trial.attempt != attempt.number) {
    CancelOn(trial.agent, {found.sweep.name, trial.number, trial.attempt},
             absl::StrCat("attempt ", attempt.number, " gave the trial its result"));
  }
  return {FinishVerdict::Kind::kStored, ""};
}

FinishVerdict SweepEngine::Take(const agent::AttemptKey& key, const std::string& agent,
                                const trial::TrialResult& result) {
  const absl::StatusOr<FoundTrial> found = Find(key);
  if (absl::IsNotFound(found.status())) {
    return {FinishVerdict::Kind::kRefused, std::string(found.status().message())};
  }
  if (!found.ok()) return Retry(found.status().message());
  const db::TrialRecord& trial = found->trial;
  if (trial.measured && trial.attempt == key.attempt) {
    return {FinishVerdict::Kind::kStored, "it was stored before"};
  }
  if (result.outcome == trial::TrialOutcome::kCancelled) return TakeCancelled(key, agent, *found);
  const absl::StatusOr<db::AttemptRecord> attempt = FindAttempt(*found, key.attempt);
  if (!attempt.ok() && !absl::IsNotFound(attempt.status())) {
    return Retry(attempt.status().message());
  }
  const std::string refused = attempt.ok() ? WhyNone(*attempt, agent, found->sweep, trial)
                                           : std::string(attempt.status().message());
  if (!refused.empty()) return Refuse(key, refused, *found, agent, result);
  const trial::ResultLimits limits{.devices = found->sweep.devices, .steps = found->sweep.steps};
  trial::TrialResult taken = result;
  absl::Status usable = trial::CheckResult(result, limits);
  if (usable.ok()) {
    // What follows from numbers that may be need not be one that may.
    taken = AgainstThePlansPeak(result, trial.plan_json);
    usable = trial::CheckResult(taken, limits);
  }
  return Store(*attempt, *found, usable.ok() ? taken : Unusable(result, usable));
}

FinishVerdict SweepEngine::Finish(const std::string& name, const agent::AttemptKey& key,
                                  const trial::TrialResult& result) {
  absl::MutexLock lock(&mutex_);
  const FinishVerdict verdict = Take(key, name, result);
  if (verdict.kind == FinishVerdict::Kind::kRetry) return verdict;
  if (const auto agent = agents_.find(name); agent != agents_.end()) {
    std::erase_if(agent->second.held, [&](const HeldAttempt& held) { return held.key == key; });
    agent->second.answered.push_back(key);
  }
  Step();
  return verdict;
}

}  // namespace meshwright::server
