// SweepEngine's handling of results.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "nlohmann/json.hpp"
#include "server/engine/caller_name.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {
namespace {

FinishVerdict Retry(const absl::Status& status) {
  return {FinishVerdict::Outcome::kRetry, std::string(status.message()), status.code()};
}

FinishVerdict RefusedFor(const absl::Status& status) {
  return Refused(status.code(), std::string(status.message()));
}

}  // namespace

std::optional<SweepEngine::TrialPlace> SweepEngine::PlaceOf(const wire::AttemptKey& key) {
  absl::MutexLock lock(&mutex_);
  const ActiveSweep* const sweep = core_.FindSweep(key.sweep);
  if (sweep == nullptr) return std::nullopt;
  TrialPlace place{sweep->id(),
                   {.devices = sweep->devices(),
                    .steps = sweep->steps(),
                    .device_kind = sweep->device_kind() == "cuda" ? planner::DeviceKind::kCuda
                                                                  : planner::DeviceKind::kCpu,
                    .memory_limit_bytes = sweep->memory_limit_bytes()}};
  if (const auto known = work_.find(sweep->id()); known != work_.end()) place.work = known->second;
  return place;
}

absl::StatusOr<std::optional<StepWork>> SweepEngine::WorkOf(const TrialPlace& place,
                                                            int32_t trial) {
  if (place.work) return place.work;
  const absl::StatusOr<std::string> plan = store_->GetPlan(place.sweep_id, trial);
  // The result of a trial that does not exist is refused without it.
  if (absl::IsNotFound(plan.status())) return std::nullopt;
  RETURN_IF_ERROR(plan.status());
  const std::optional<StepWork> work = StepWorkOf(*plan);
  absl::MutexLock lock(&mutex_);
  const auto has_ended = [&](const auto& known) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !core_.sweeps().contains(known.first);
  };
  std::erase_if(work_, has_ended);
  if (work) work_[place.sweep_id] = *work;
  return work;
}

bool SweepEngine::HasResult(const wire::AttemptKey& key) {
  const absl::StatusOr<db::SweepRecord> sweep = store_->GetSweep(key.sweep);
  if (!sweep.ok()) return false;
  const absl::StatusOr<db::TrialRecord> trial = store_->GetTrial(sweep->id, key.trial);
  return trial.ok() && trial->measured && trial->attempt == key.attempt;
}

void SweepEngine::Finish(const std::string& agent, const wire::AttemptKey& key,
                         const std::string& token, const trial::TrialResult& result,
                         FinishDone done) {
  Finish({.agent = agent, .key = key, .token = token, .result = result}, std::move(done));
}

void SweepEngine::Finish(Delivery delivery, FinishDone done) {
  const wire::AttemptKey& key = delivery.key;
  const std::optional<TrialPlace> place = PlaceOf(key);
  if (!place) {
    const EngineOutput output = Decide(ResultCameLate{delivery.agent, key});
    if (output.verdict) return done(*output.verdict);
    return FinishLate(std::move(delivery), std::move(done));
  }
  const absl::Status status = tokens_->Check(place->sweep_id, key, delivery.token);
  if (!status.ok()) {
    LogFields about = wire::AboutAttempt(key, delivery.agent);
    about.code = absl::StatusCodeToString(status.code());
    Log({.level = LogLevel::kWarning,
         .message = absl::StrCat("a result of ", DelivererName(delivery.agent, delivery.told_by),
                                 " was refused: ", status.message()),
         .about = std::move(about)});
    return done(RefusedFor(status));
  }
  const absl::StatusOr<std::optional<StepWork>> work = WorkOf(*place, key.trial);
  if (!work.ok()) return done(Retry(work.status()));
  const auto digested =
      std::make_shared<const DigestedResult>(DigestResult(delivery.result, *work, place->limits));
  // A caller can correct what was typed; an agent would deliver the same again.
  if (delivery.told_by && !digested->problem.ok()) return done(RefusedFor(digested->problem));
  EngineOutput output;
  {
    absl::MutexLock lock(&mutex_);
    output = Handle(TrialFinished{delivery.agent, key, digested, delivery.told_by});
    const bool is_told_later =
        output.verdict && output.verdict->kind != FinishVerdict::Outcome::kRetry;
    std::function<void(const absl::Status&)> stored;
    if (is_told_later) {
      stored = [done, verdict = *output.verdict](const absl::Status& written) {
        done(written.ok() ? verdict : Retry(written));
      };
    }
    Submit(std::exchange(output.ops, {}), output.sends, std::move(stored));
    if (is_told_later) return;
  }
  // The sweep may have ended just now.
  if (output.result_is_late) return FinishLate(std::move(delivery), std::move(done));
  done(*output.verdict);
}

absl::StatusOr<FinishVerdict> SweepEngine::JudgeLate(const Delivery& delivery,
                                                     const AttemptTokens& tokens, absl::Time now,
                                                     db::SweepAccess& access) {
  const wire::AttemptKey& key = delivery.key;
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, access.GetSweep(key.sweep));
  if (const absl::Status status = tokens.Check(sweep.id, key, delivery.token); !status.ok()) {
    return RefusedFor(status);
  }
  ASSIGN_OR_RETURN(const db::TrialRecord trial, access.GetTrial(sweep.id, key.trial));
  ASSIGN_OR_RETURN(const std::vector<db::AttemptRecord> attempts,
                   access.ListAttempts(sweep.id, key.trial));
  ResultClaim claim = {.attempt = key.attempt,
                       .is_cancelled = delivery.result.outcome == trial::TrialOutcome::kCancelled,
                       .was_given = std::any_of(attempts.begin(), attempts.end(),
                                                [&](const db::AttemptRecord& attempt) {
                                                  return attempt.number == key.attempt;
                                                })};
  if (trial.measured) claim.measured = trial.attempt;
  if (delivery.told_by && claim.measured == key.attempt) {
    return VerdictOnRepeat(trial.state, trial.measured->step_s, delivery.result);
  }
  const FinishVerdict verdict = VerdictOn(claim).value_or(
      Refused(absl::StatusCode::kFailedPrecondition,
              absl::StrCat("the sweep is ", AbslView(db::SweepStateName(sweep.state)))));
  const bool is_told = verdict.kind == FinishVerdict::Outcome::kRefused &&
                       verdict.code != absl::StatusCode::kCancelled;
  if (!is_told) return verdict;
  db::EventRecord event{.sweep_id = sweep.id,
                        .trial = key.trial,
                        .attempt = key.attempt,
                        .kind = "result_refused",
                        .time = now};
  event.message = absl::StrCat("result of ", DelivererName(delivery.agent, delivery.told_by),
                               " refused: ", verdict.reason);
  event.data_json = ToJson(delivery.result).dump();
  RETURN_IF_ERROR(access.AppendEvent(event).status());
  return verdict;
}

void SweepEngine::FinishLate(Delivery delivery, FinishDone done) {
  auto verdict = std::make_shared<FinishVerdict>();
  writer_.Submit({.store =
                      [verdict, delivery = std::move(delivery), tokens = tokens_,
                       now = clock_()](db::SweepAccess& access) {
                        const absl::StatusOr<FinishVerdict> judged =
                            JudgeLate(delivery, *tokens, now, access);
                        if (judged.ok()) *verdict = *judged;
                        return judged.status();
                      },
                  .stored =
                      [verdict, done = std::move(done)](const absl::Status& status) {
                        if (absl::IsNotFound(status)) {
                          *verdict = RefusedFor(status);
                        } else if (!status.ok()) {
                          *verdict = Retry(status);
                        }
                        done(*verdict);
                      }});
}

}  // namespace meshwright::server
