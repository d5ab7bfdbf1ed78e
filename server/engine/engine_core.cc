#include "server/engine/engine_core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/wire/event_details.h"

namespace meshwright::server {
namespace {

constexpr char kItsTrialsRun[] = "its trials run";

}  // namespace

EngineOutput EngineCore::Handle(const EngineInput& input) {
  wall_ = input.wall;
  now_ = input.monotonic;
  output_ = {};
  noted_losses_.clear();
  std::visit([this](const auto& event) { On(event); }, input.event);
  return std::exchange(output_, {});
}

EngineFigures EngineCore::Figures() const {
  EngineFigures figures;
  figures.sweeps = static_cast<int64_t>(sweeps_.size());
  figures.store_is_up = store_is_up_;
  for (const auto& [name, agent] : agents_.all()) {
    ++(agent.held.empty() ? figures.idle_agents : figures.busy_agents);
  }
  for (const auto& [id, sweep] : sweeps_) {
    figures.pending_trials += static_cast<int64_t>(sweep.pending().size());
    figures.held_trials += static_cast<int64_t>(sweep.held().size());
  }
  return figures;
}

const ActiveSweep* EngineCore::FindSweep(std::string_view name) const {
  const auto id = ids_.find(name);
  return id == ids_.end() ? nullptr : &sweeps_.at(id->second);
}

EngineCore::Found EngineCore::Find(const wire::AttemptKey& key) {
  const auto id = ids_.find(key.sweep);
  if (id == ids_.end()) return {};
  ActiveSweep& sweep = sweeps_.at(id->second);
  return {&sweep, sweep.Find(key.trial)};
}

void EngineCore::Log(LogLevel level, std::string message, LogFields about) {
  output_.log.push_back({.level = level, .message = std::move(message), .about = std::move(about)});
}

void EngineCore::On(const Tick&) { Advance(); }

void EngineCore::Load(const SweepStored& stored, absl::Time wall, MonotonicTime now) {
  if (db::HasEnded(stored.sweep.state) || sweeps_.contains(stored.sweep.id)) return;
  ActiveSweep& sweep = sweeps_
                           .try_emplace(stored.sweep.id, stored.sweep, stored.trials,
                                        stored.attempts, stored.related_sweeps)
                           .first->second;
  ids_[stored.sweep.name] = stored.sweep.id;
  sweep.last_turn = turns_;
  if (sweep.held().empty()) return;
  if (!sweep.is_asked()) agents_return_until_ = now + options_.lease;
  for (const int32_t number : sweep.held()) {
    ActiveTrial& trial = *sweep.Find(number);
    GivenAttempt& attempt = *trial.Held();
    for (GivenMember& member : attempt.members) {
      member.may_be_unsent = trial.state == db::TrialState::kAssigned;
      SetLease(member,
               attempt.lease_end ? now + (*attempt.lease_end - wall) : agents_return_until_);
    }
  }
}

void EngineCore::Load(const std::vector<db::AgentQuarantine>& quarantines) {
  for (const db::AgentQuarantine& quarantine : quarantines) agents_.SetQuarantine(quarantine);
}

void EngineCore::On(const SweepStored& event) {
  Load(event, wall_, now_);
  Advance();
}

db::EventRecord EngineCore::CancelledTrialEvent(const ActiveSweep& sweep, const ActiveTrial& trial,
                                                const std::string& actor) const {
  db::EventRecord event{.sweep_id = sweep.id(),
                        .trial = trial.number,
                        .attempt = trial.attempt,
                        .kind = "trial_ended",
                        .message = "cancelled with its sweep",
                        .time = wall_,
                        .actor = actor};
  wire::TrialLeft left;
  left.layout = trial.layout;
  left.state = db::TrialStateName(db::TrialState::kCancelled);
  event.data_json = ToJson(left).dump();
  return event;
}

void EngineCore::On(const CancelRequested& event) {
  const auto id = ids_.find(event.sweep);
  if (id == ids_.end() || !store_is_up_) {
    output_.status = id == ids_.end()
                         ? absl::NotFoundError(absl::StrCat("no active sweep ", event.sweep))
                         : absl::UnavailableError("the store can't be written now: try again");
    return;
  }
  ActiveSweep& sweep = sweeps_.at(id->second);
  db::TrialCounts after = sweep.counts();
  for (const db::TrialState state :
       {db::TrialState::kPending, db::TrialState::kAssigned, db::TrialState::kRunning}) {
    after[db::TrialState::kCancelled] += std::exchange(after[state], 0);
  }
  const std::string trials = after.ToText();
  const std::string reason =
      absl::StrCat("cancelled by request: ", trials.empty() ? "no trial had begun" : trials);
  Log(LogLevel::kInfo, absl::StrCat("the sweep was ", reason),
      {.sweep = sweep.name(), .caller = event.actor});
  for (const ActiveTrial& trial : sweep.trials()) {
    if (!trial.has_begun || db::HasEnded(trial.state)) continue;
    output_.ops.emplace_back(CancelledTrialEvent(sweep, trial, event.actor));
  }
  output_.ops.emplace_back(SweepCancellation{sweep.id(), reason, event.actor, wall_});
  for (const auto& [name, agent] : agents_.all()) {
    for (const HeldAttempt& held : agent.held) {
      if (held.key.sweep == sweep.name()) {
        AddCancel(agent.connection, held.key, reason);
      }
    }
  }
  sweeps_.erase(id->second);
  ids_.erase(id);
  Advance();
}

void EngineCore::On(const StoreFailed&) { store_is_up_ = false; }

void EngineCore::On(const StoreBack&) {
  store_is_up_ = true;
  for (auto& [id, sweep] : sweeps_) {
    if (sweep.is_asked()) continue;
    for (const int32_t number : sweep.held()) {
      for (GivenMember& member : sweep.Find(number)->Held()->members) {
        SetLease(member, now_ + options_.lease);
      }
    }
  }
  Advance();
}

void EngineCore::SetLease(GivenMember& member, MonotonicTime ends) {
  member.lease_ends = ends;
  first_lease_end_ = std::min(first_lease_end_, ends);
}

void EngineCore::Advance() {
  DropSilentAgents();
  if (!store_is_up_) return;
  GiveUpLapsed();
  const bool agents_changed = told_generation_ != agents_.generation();
  told_generation_ = agents_.generation();
  EndSweeps();
  PlaceInTurns();
  for (auto& [id, sweep] : sweeps_) {
    if (agents_changed) sweep.look_at_wait = MonotonicTime::Always();
    TellWait(sweep);
  }
}

void EngineCore::EndSweeps() {
  for (auto next = sweeps_.begin(); next != sweeps_.end();) {
    const auto current = next++;
    ActiveSweep& sweep = current->second;
    if (!sweep.AllEnded() || sweep.MayChoose()) continue;
    const std::string reason = FinishReason(sweep);
    Log(LogLevel::kInfo, absl::StrCat("the sweep has finished: ", reason), {.sweep = sweep.name()});
    SetSweep(sweep, db::SweepState::kFinished, reason, "sweep_finished");
    ids_.erase(sweep.name());
    sweeps_.erase(current);
  }
}

void EngineCore::On(const ChoiceMade& event) {
  if (const auto sweep = sweeps_.find(event.sweep_id); sweep != sweeps_.end()) {
    sweep->second.TakeAnswer(event);
  }
  Advance();
}

db::TrialTransition EngineCore::TransitionOf(const Found& found) const {
  return {.sweep_id = found.sweep->id(),
          .number = found.trial->number,
          .from_state = found.trial->state,
          .from_attempt = found.trial->attempt,
          .to_state = found.trial->state,
          .to_attempt = found.trial->attempt,
          .reason = "",
          .event_kind = "",
          .event_message = "",
          .time = wall_};
}

void EngineCore::SetRunning(ActiveSweep& sweep) {
  if (SaysThatItRuns(sweep)) return;
  SetSweep(sweep, db::SweepState::kRunning, kItsTrialsRun, "sweep_running");
}

bool EngineCore::SaysThatItRuns(const ActiveSweep& sweep) {
  return sweep.state == db::SweepState::kRunning && sweep.reason == kItsTrialsRun;
}

void EngineCore::SetSweep(ActiveSweep& sweep, db::SweepState to, const std::string& reason,
                          const std::string& event_kind) {
  output_.ops.emplace_back(db::SweepTransition{.sweep_id = sweep.id(),
                                               .from_state = sweep.state,
                                               .to_state = to,
                                               .reason = reason,
                                               .event_kind = event_kind,
                                               .time = wall_});
  sweep.state = to;
  sweep.reason = reason;
}

void EngineCore::CancelMembers(const ActiveSweep& sweep, const ActiveTrial& trial,
                               const GivenAttempt& attempt, const std::string& except,
                               const std::string& reason) {
  for (const GivenMember& member : attempt.members) {
    if (member.part.agent == except) continue;
    CancelOn(member.part.agent, {sweep.name(), trial.number, attempt.number}, reason);
  }
}

void EngineCore::Unassign(const Found& found, const AfterLoss& after, Left left,
                          const std::string& member, const std::string& actor) {
  ActiveTrial& trial = *found.trial;
  GivenAttempt& attempt = *trial.Held();
  const bool counts = left != Left::kReturned;
  Log(counts ? LogLevel::kWarning : LogLevel::kInfo, after.reason,
      wire::AboutAttempt({found.sweep->name(), trial.number, trial.attempt}, member));
  db::TrialTransition transition = TransitionOf(found);
  transition.to_state = after.fails ? db::TrialState::kFailed : db::TrialState::kPending;
  if (!after.fails) transition.to_attempt = trial.attempt + 1;
  transition.lost = left == Left::kLost;
  transition.broken = left == Left::kBroken;
  transition.failed_agent = member;
  transition.actor = actor;
  transition.reason = after.reason;
  transition.event_kind = after.fails ? "trial_ended" : "trial_requeued";
  transition.event_message = after.reason;
  transition.event_data_json =
      ToJson(wire::TrialLeft{.layout = trial.layout,
                             .state = std::string(db::TrialStateName(transition.to_state)),
                             .agent = member})
          .dump();
  attempt.lost = transition.lost;
  attempt.broken = transition.broken;
  for (GivenMember& one : attempt.members) {
    one.part.failed = counts && one.part.agent == member;
    one.lease_ends = MonotonicTime::Never();
    one.may_be_unsent = false;
  }
  CancelMembers(*found.sweep, trial, attempt, /*except=*/member, after.reason);
  trial.lost_attempts += counts ? 1 : 0;
  trial.attempt = transition.to_attempt;
  found.sweep->SetState(trial, transition.to_state);
  output_.ops.emplace_back(std::move(transition));
}

void EngineCore::GiveUpLapsed() {
  if (now_ < first_lease_end_) return;
  first_lease_end_ = MonotonicTime::Never();
  for (auto& [id, sweep] : sweeps_) {
    const std::set<int32_t> held = sweep.held();
    for (const int32_t number : held) {
      ActiveTrial& trial = *sweep.Find(number);
      const std::vector<GivenMember>& members = trial.Held()->members;
      const auto first = std::min_element(
          members.begin(), members.end(),
          [](const GivenMember& a, const GivenMember& b) { return a.lease_ends < b.lease_ends; });
      if (first->lease_ends > now_) {
        first_lease_end_ = std::min(first_lease_end_, first->lease_ends);
      } else {
        GiveUp(sweep, trial, std::string(first->part.agent));
      }
    }
  }
}

void EngineCore::GiveUp(ActiveSweep& sweep, ActiveTrial& trial, const std::string& member) {
  const wire::AttemptKey key{sweep.name(), trial.number, trial.attempt};
  if (sweep.is_asked()) {
    return Unassign({&sweep, &trial},
                    AfterReturn(trial, absl::StrCat("the lease of ", member, " ended")),
                    Left::kReturned, member);
  }
  ConnectedAgent* const agent = agents_.Find(member);
  const std::string why = agent != nullptr
                              ? absl::StrCat("agent ", member, " stopped renewing its lease")
                              : absl::StrCat("agent ", member, " vanished");
  const AfterLoss after = DecideAfterLoss(trial, why, options_);
  Unassign({&sweep, &trial}, after, Left::kLost, member);
  NoteLoss(member, why, *trial.FindAttempt(key.attempt));
  CancelOn(member, key, after.reason);
  // Its next heartbeat says whether the agent is free, if it is still there.
  if (agent != nullptr) agents_.Confirm(*agent, key);
}

void EngineCore::AddCancel(ConnectionId connection, const wire::AttemptKey& key,
                           const std::string& reason) {
  Send& send = output_.sends.emplace_back();
  send.connection = connection;
  send.order = CancelOrder{key, reason};
}

void EngineCore::CancelOn(const std::string& agent, const wire::AttemptKey& key,
                          const std::string& reason) {
  if (const ConnectedAgent* found = agents_.Find(agent); found != nullptr) {
    AddCancel(found->connection, key, reason);
  }
}

}  // namespace meshwright::server
