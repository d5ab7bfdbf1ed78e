// EngineCore's handling of sweeps whose trials callers run.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/string_view.h"
#include "server/engine/caller_name.h"
#include "server/engine/engine_core.h"
#include "server/engine/placement.h"
#include "server/engine/result_verdict.h"

namespace meshwright::server {
namespace {

absl::Status NoTrialNow(const ActiveSweep& sweep) {
  return absl::FailedPreconditionError(
      absl::StrCat("sweep ", sweep.name(), " has no trial to hand out now: ", sweep.held().size(),
                   sweep.held().size() == 1 ? " is" : " are", " handed out, and ",
                   sweep.stop_reason().empty() ? "no other is left" : sweep.stop_reason()));
}

}  // namespace

absl::StatusOr<ActiveSweep*> EngineCore::FindAsked(const std::string& name) {
  const auto id = ids_.find(name);
  if (id == ids_.end()) return absl::NotFoundError(absl::StrCat("no active sweep ", name));
  ActiveSweep& sweep = sweeps_.at(id->second);
  if (!sweep.is_asked()) {
    return absl::FailedPreconditionError(
        absl::StrCat("sweep ", name,
                     " runs its trials on agents; a sweep that hands its trials "
                     "out is started with --ask"));
  }
  if (!store_is_up_) return absl::UnavailableError("the store can't be written now: try again");
  return &sweep;
}

absl::StatusOr<EngineCore::Found> EngineCore::FindHandedOut(const wire::AttemptKey& key) {
  const absl::StatusOr<ActiveSweep*> sweep = FindAsked(key.sweep);
  if (!sweep.ok()) return sweep.status();
  ActiveTrial* const trial = (*sweep)->Find(key.trial);
  if (trial == nullptr || !trial->has_begun) {
    return absl::NotFoundError(absl::StrCat("the sweep has no trial ", key.trial));
  }
  if (trial->attempt == key.attempt && trial->Held() != nullptr) return Found{*sweep, trial};
  return absl::FailedPreconditionError(LeaseHasEnded(key.attempt, *trial));
}

void EngineCore::On(const TrialAsked& event) {
  const absl::StatusOr<ActiveSweep*> found = FindAsked(event.sweep);
  output_.status = found.status();
  if (!found.ok()) return;
  ActiveSweep& sweep = **found;
  if (!sweep.pending().empty()) {
    ActiveTrial& trial = *sweep.Find(*sweep.pending().begin());
    return HandOut(event, sweep, trial, WhyPendingIsNext(trial), std::nullopt);
  }
  if (const std::optional<ChosenTrial> chosen = sweep.TakeChosen()) {
    return HandOut(event, sweep, *sweep.Find(chosen->number), chosen->reason, chosen->gain);
  }
  if (auto question = sweep.AskFor(1)) output_.questions.push_back(*std::move(question));
  output_.is_choosing = sweep.WaitsForAnswer();
  if (!output_.is_choosing) output_.status = NoTrialNow(sweep);
}

void EngineCore::HandOut(const TrialAsked& event, ActiveSweep& sweep, ActiveTrial& trial,
                         const std::string& reason, std::optional<double> gain) {
  const std::string caller = CallerName(event.actor);
  const absl::Time lease_end = wall_ + event.lease;
  GivenAttempt& attempt = Hold(
      sweep, trial, {{.agent = caller, .host = "", .ranks = static_cast<int32_t>(sweep.devices())}},
      absl::StrCat(reason, "; ", caller, " asked for it"), gain, lease_end);
  SetLease(attempt.members.front(), now_ + event.lease);
  output_.handed_out =
      HandedOut{{sweep.name(), trial.number, trial.attempt}, sweep.id(), lease_end};
}

void EngineCore::On(const LeaseRenewed& event) {
  const absl::StatusOr<Found> found = FindHandedOut(event.key);
  output_.status = found.status();
  if (!found.ok()) return;
  GivenAttempt& attempt = *found->trial->Held();
  attempt.lease_end = wall_ + event.lease;
  SetLease(attempt.members.front(), now_ + event.lease);
  output_.ops.emplace_back(db::LeaseRenewal{.sweep_id = found->sweep->id(),
                                            .trial = event.key.trial,
                                            .attempt = event.key.attempt,
                                            .lease_end = *attempt.lease_end});
  output_.handed_out = HandedOut{event.key, found->sweep->id(), *attempt.lease_end};
}

void EngineCore::On(const TrialGivenBack& event) {
  const absl::StatusOr<Found> found = FindHandedOut(event.key);
  output_.status = found.status();
  if (!found.ok()) return;
  const std::string who = CallerName(event.actor);
  Unassign(*found, AfterReturn(*found->trial, absl::StrCat(who, " gave it back")), Left::kReturned,
           found->trial->Held()->leader(), event.actor);
  Advance();
}

FinishVerdict EngineCore::TakeTold(const TrialFinished& event, const Found& found) {
  ActiveTrial& trial = *found.trial;
  const trial::TrialResult& result = event.digested->result;
  if (trial.measured && trial.attempt == event.key.attempt) {
    return VerdictOnRepeat(trial.state, trial.step_s, result);
  }
  const GivenAttempt* const held = trial.Held();
  if (held == nullptr || trial.attempt != event.key.attempt) {
    return Refuse(event, absl::StatusCode::kFailedPrecondition,
                  LeaseHasEnded(event.key.attempt, trial), found);
  }
  return Store(event, GivenAttempt(*held), found);
}

}  // namespace meshwright::server
