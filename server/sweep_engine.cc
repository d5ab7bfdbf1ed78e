#include "server/sweep_engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/agent/event_details.h"
#include "planner/base/nearest.h"
#include "planner/base/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/step_to_beat.h"

namespace meshwright::server {

SweepEngine::SweepEngine(db::SweepStore* store, EventHub* hub, Clock clock,
                         host::MonotonicClock monotonic_clock, EngineOptions options)
    : store_(store),
      hub_(hub),
      clock_(std::move(clock)),
      monotonic_clock_(std::move(monotonic_clock)),
      options_(std::move(options)),
      policy_{.max_lost_attempts = options_.max_lost_attempts} {}

void SweepEngine::Log(const std::string& line, host::LogLevel level) const {
  if (options_.log) options_.log(level, line);
}

bool SweepEngine::Done(const absl::Status& status, int64_t sweep_id) {
  if (status.ok()) {
    hub_->Notify(sweep_id);
    return true;
  }
  // Aborted: somebody else was first, which is how compare-and-set is meant to end.
  if (!absl::IsAborted(status)) Log(std::string(status.message()), host::LogLevel::kError);
  return false;
}

absl::StatusOr<db::SweepRecord> SweepEngine::Create(const NewSweep& made) {
  absl::MutexLock lock(&mutex_);
  db::SweepRecord unnamed = made.sweep;
  unnamed.name_stem = SweepIdStem(made.sweep.model);
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, store_->CreateSweep(unnamed, made.trials));
  Step();
  return store_->GetSweepById(sweep.id);
}

absl::StatusOr<db::SweepRecord> SweepEngine::Cancel(std::string_view name) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, store_->GetSweep(name));
  RETURN_IF_ERROR(CancelTrials(sweep));
  Step();
  return store_->GetSweepById(sweep.id);
}

absl::Status SweepEngine::Delete(std::string_view name, bool force) {
  absl::MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, store_->GetSweep(name));
  if (!db::HasEnded(sweep.state)) {
    if (!force) {
      const std::string_view state = db::SweepStateName(sweep.state);
      return absl::FailedPreconditionError(absl::StrCat(
          "sweep ", sweep.name, " can't be deleted: it is ",
          absl::string_view(state.data(), state.size()), "; cancel it first (--force does)"));
    }
    RETURN_IF_ERROR(CancelTrials(sweep));
  }
  RETURN_IF_ERROR(store_->DeleteSweep(sweep.id));
  Log(absl::StrCat(FormatSweepName(sweep.name), " was deleted"));
  hub_->Notify(sweep.id);
  Step();
  return absl::OkStatus();
}

absl::Status SweepEngine::CancelTrials(const db::SweepRecord& sweep) {
  db::TrialCounts after = sweep.trial_counts;
  for (const db::TrialState state :
       {db::TrialState::kPending, db::TrialState::kAssigned, db::TrialState::kRunning}) {
    after[db::TrialState::kCancelled] += std::exchange(after[state], 0);
  }
  const std::string reason = absl::StrCat("cancelled by request: ", after.ToText());
  if (absl::Status status = store_->CancelSweep(sweep.id, reason, clock_()); !status.ok()) {
    if (!absl::IsFailedPrecondition(status)) return status;
    const std::string_view state = db::SweepStateName(sweep.state);
    return absl::FailedPreconditionError(
        absl::StrCat("sweep ", sweep.name, " can't be cancelled: it is ",
                     absl::string_view(state.data(), state.size())));
  }
  hub_->Notify(sweep.id);
  for (auto& [agent_name, agent] : agents_) {
    for (const HeldAttempt& held : agent.held) {
      if (held.key.sweep == sweep.name) agent.link->Cancel(held.key, reason);
    }
  }
  return absl::OkStatus();
}

void SweepEngine::Tick() {
  absl::MutexLock lock(&mutex_);
  Step();
}

absl::StatusOr<PolicyState> SweepEngine::LoadState() {
  PolicyState state;
  for (const auto& [name, agent] : agents_) {
    state.agents.push_back({name, agent.info.device_kind, agent.info.devices, agent.held.empty()});
  }
  ASSIGN_OR_RETURN(std::vector<db::SweepRecord> sweeps, store_->ListActiveSweeps());
  const host::MonotonicTime whole_lease = monotonic_clock_() + options_.lease;
  std::map<agent::AttemptKey, host::MonotonicTime> lease_ends;
  for (db::SweepRecord& sweep : sweeps) {
    ASSIGN_OR_RETURN(std::vector<db::TrialRecord> trials,
                     store_->ListTrials(sweep.id, db::TrialOrder::kNumber, 0,
                                        std::numeric_limits<int32_t>::max()));
    state.sweeps.push_back({std::move(sweep), std::move(trials)});
    SweepView& view = state.sweeps.back();
    for (const db::TrialRecord& trial : view.trials) {
      if (!db::IsHeld(trial.state)) continue;
      const agent::AttemptKey key{view.sweep.name, trial.number, trial.attempt};
      const auto known = lease_ends_.find(key);
      const host::MonotonicTime ends = known == lease_ends_.end() ? whole_lease : known->second;
      lease_ends[key] = ends;
      view.lease_ends[trial.number] = ends;
    }
  }
  lease_ends_ = std::move(lease_ends);
  return state;
}

void SweepEngine::Step() {
  DropSilentAgents();
  bool changed = true;
  while (changed) {
    changed = false;
    const absl::StatusOr<PolicyState> state = LoadState();
    if (!state.ok()) {
      Log(std::string(state.status().message()), host::LogLevel::kError);
      return;
    }
    for (const PolicyAction& action : NextActions(monotonic_clock_(), *state, policy_)) {
      changed = Apply(action, *state) || changed;
    }
  }
}

bool SweepEngine::Apply(const PolicyAction& action, const PolicyState& state) {
  const auto view = std::find_if(state.sweeps.begin(), state.sweeps.end(),
                                 [&](const SweepView& v) { return v.sweep.id == action.sweep_id; });
  switch (action.type) {
    case ActionType::kAssign:
      return Assign(action, *view);
    case ActionType::kRequeue:
    case ActionType::kFail:
      return GiveUp(action, view->sweep, view->trials[static_cast<size_t>(action.trial - 1)]);
    case ActionType::kWait:
      if (view->sweep.reason != action.reason) {
        SetSweep(view->sweep, view->sweep.state, action.reason, "sweep_waiting");
      }
      return false;
    case ActionType::kFinish:
      Log(absl::StrCat(FormatSweepName(view->sweep.name), " finished: ", action.reason));
      SetSweep(view->sweep, db::SweepState::kFinished, action.reason, "sweep_finished");
      return false;
  }
  return false;
}

bool SweepEngine::Assign(const PolicyAction& action, const SweepView& view) {
  const db::SweepRecord& sweep = view.sweep;
  const db::TrialRecord& trial = view.trials[static_cast<size_t>(action.trial - 1)];
  const auto found = agents_.find(action.agent);
  if (found == agents_.end()) return false;
  ConnectedAgent& agent = found->second;
  db::TrialTransition transition{.sweep_id = sweep.id,
                                 .number = trial.number,
                                 .from_state = db::TrialState::kPending,
                                 .from_attempt = trial.attempt,
                                 .to_state = db::TrialState::kAssigned,
                                 .to_attempt = trial.attempt,
                                 .reason = action.reason,
                                 .agent = agent.info.name,
                                 .host = agent.info.host,
                                 .event_kind = "trial_assigned",
                                 .event_message = action.reason,
                                 .time = clock_()};
  transition.event_data_json =
      ToJson(agent::TrialPlaced{.layout = trial.layout, .agent = agent.info.name}).dump();
  if (!Done(store_->UpdateTrial(transition), sweep.id)) return false;
  Log(absl::StrCat(FormatTrialName(sweep.name, trial.number), ": attempt ", trial.attempt,
                   " goes to agent ", agent.info.name),
      host::LogLevel::kDebug);
  const agent::AttemptKey key{sweep.name, trial.number, trial.attempt};
  agent.held.push_back({key});
  agent.link->Assign(key, PlanToBeat(trial.plan_json, BestStep(view)), action.reason);
  SetRunning(sweep);
  return true;
}

void SweepEngine::SetRunning(const db::SweepRecord& sweep) {
  const std::string running = "its trials run";
  if (sweep.state == db::SweepState::kRunning && sweep.reason == running) return;
  SetSweep(sweep, db::SweepState::kRunning, running, "sweep_running");
}

bool SweepEngine::Unassign(const PolicyAction& action, const db::TrialRecord& trial, bool lost) {
  const bool failed = action.type == ActionType::kFail;
  if (const auto sweep = store_->GetSweepById(trial.sweep_id); sweep.ok()) {
    Log(absl::StrCat(FormatTrialName(sweep->name, trial.number), ": ", action.reason),
        lost || failed ? host::LogLevel::kWarning : host::LogLevel::kInfo);
  }
  db::TrialTransition transition{
      .sweep_id = trial.sweep_id,
      .number = trial.number,
      .from_state = trial.state,
      .from_attempt = trial.attempt,
      .to_state = failed ? db::TrialState::kFailed : db::TrialState::kPending,
      .to_attempt = failed ? trial.attempt : trial.attempt + 1,
      .lost = lost,
      .reason = action.reason,
      .event_kind = failed ? "trial_ended" : "trial_requeued",
      .event_message = action.reason,
      .time = clock_()};
  transition.event_data_json =
      ToJson(agent::TrialLeft{.layout = trial.layout,
                              .state = std::string(db::TrialStateName(transition.to_state)),
                              .agent = trial.agent})
          .dump();
  return Done(store_->UpdateTrial(transition), trial.sweep_id);
}

bool SweepEngine::GiveUp(const PolicyAction& action, const db::SweepRecord& sweep,
                         const db::TrialRecord& trial) {
  if (!Unassign(action, trial, /*lost=*/true)) return false;
  const agent::AttemptKey key{sweep.name, trial.number, trial.attempt};
  CancelOn(trial.agent, key, action.reason);
  // An agent that is still there says with its next heartbeat whether it is free.
  if (const auto agent = agents_.find(trial.agent); agent != agents_.end()) {
    for (HeldAttempt& held : agent->second.held) held.confirmed = held.confirmed || held.key == key;
  }
  return true;
}

bool SweepEngine::SetSweep(const db::SweepRecord& sweep, db::SweepState to,
                           const std::string& reason, const std::string& event_kind) {
  return Done(store_->UpdateSweep({.sweep_id = sweep.id,
                                   .from_state = sweep.state,
                                   .to_state = to,
                                   .reason = reason,
                                   .event_kind = event_kind,
                                   .time = clock_()}),
              sweep.id);
}

}  // namespace meshwright::server
