// Defines the part of EngineCore that handles agents' messages.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/string_view.h"
#include "executor/wire/event_details.h"
#include "server/engine/engine_core.h"

namespace meshwright::server {
namespace {

bool HasKey(const std::vector<wire::AttemptKey>& keys, const wire::AttemptKey& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string NotTheOne(const wire::AttemptKey& key, const ActiveTrial* trial) {
  if (trial == nullptr) {
    return absl::StrCat("attempt ", key.attempt, " does not count: its sweep has ended");
  }
  return absl::StrCat("attempt ", key.attempt, " does not count: the trial is ",
                      AbslView(db::TrialStateName(trial->state)), " in attempt ", trial->attempt);
}

}  // namespace

std::vector<EngineCore::Found> EngineCore::HeldBy(const std::string& agent) {
  std::vector<Found> found;
  for (auto& [id, sweep] : sweeps_) {
    for (const int32_t number : sweep.held()) {
      ActiveTrial* const trial = sweep.Find(number);
      if (trial->Held()->Find(agent) != nullptr) found.push_back({&sweep, trial});
    }
  }
  return found;
}

absl::Status EngineCore::CheckReplaces(const AgentInfo& info, ConnectedAgent& connected) {
  const AgentInfo& other = connected.info;
  if (other.instance == info.instance) return absl::OkStatus();
  if (!info.identity.empty() && info.identity == other.identity) {
    if (connected.claimant != info.instance) {
      connected.claimant = info.instance;
      connected.claimed = now_;
    }
    // A process that has ended sends nothing more.
    if (connected.last_heard + kMissedHeartbeats * options_.heartbeat <= now_) {
      return absl::OkStatus();
    }
    const MonotonicTime ends = connected.claimed + options_.lease;
    if (now_ < ends) {
      return absl::AbortedError(absl::StrCat(
          "agent ", info.name, " is still connected, maybe from before a restart: the earlier ",
          "connection is closed unless the server hears from it within ",
          absl::FormatDuration(kMissedHeartbeats * options_.heartbeat)));
    }
  }
  return absl::AlreadyExistsError(absl::StrCat("an agent named \"", info.name,
                                               "\" is already connected, from ", other.host,
                                               ": choose another --name, or end that one"));
}

void EngineCore::Lose(const std::string& name) {
  const ConnectedAgent& agent = *agents_.Find(name);
  lost_agents_.Add({.info = agent.info, .last_heard = agent.last_heard, .lost = now_});
  agents_.Remove(name);
}

void EngineCore::DropSilentAgents() {
  // Agents that came or were heard of since can only lapse later.
  if (now_ < first_silence_) return;
  first_silence_ = now_ + options_.lease;
  std::vector<std::string> silent;
  for (const auto& [name, agent] : agents_.all()) {
    const MonotonicTime ends = agent.last_heard + options_.lease;
    if (ends <= now_) {
      silent.push_back(name);
    } else {
      first_silence_ = std::min(first_silence_, ends);
    }
  }
  for (const std::string& name : silent) {
    const std::string silence =
        absl::StrCat("gave no sign of life for ", absl::FormatDuration(options_.lease));
    Log(LogLevel::kWarning, absl::StrCat("agent ", name, " ", silence), {.agent = name});
    output_.sends_at_once.push_back(
        {agents_.Find(name)->connection,
         CloseOrder{absl::DeadlineExceededError(absl::StrCat("the agent ", silence))}});
    Lose(name);
  }
}

void EngineCore::On(const AgentConnected& event) {
  DropSilentAgents();
  const std::string& name = event.info.name;
  if (ConnectedAgent* old = agents_.Find(name); old != nullptr) {
    output_.status = CheckReplaces(event.info, *old);
    if (!output_.status.ok()) return;
    output_.sends_at_once.push_back(
        {old->connection, CloseOrder{absl::AbortedError("the agent connected again")}});
    agents_.Remove(name);
  }
  Log(LogLevel::kInfo,
      absl::StrCat("agent ", name, " connected from ", event.info.host, " with ",
                   event.info.devices, " ", event.info.device_kind, " devices"),
      {.agent = name});
  ConnectedAgent& agent =
      agents_.Add({.info = event.info, .connection = event.connection, .idle_since = now_});
  agent.info.connect_time = wall_;
  lost_agents_.Forget(name);
  output_.sends_at_once.push_back({event.connection, WelcomeOrder{}});
  TakeHeld(agent, event.held);
  for (const Found& found : HeldBy(name)) {
    const wire::AttemptKey key{found.sweep->name(), found.trial->number, found.trial->attempt};
    if (!store_is_up_ || HasKey(event.held, key)) continue;
    if (found.trial->Held()->Find(name)->may_be_unsent) {
      Unassign(
          found,
          {false, absl::StrCat("the server ended before agent ", name,
                               " had the trial, which runs again as attempt ", key.attempt + 1)},
          Left::kReturned, name);
      continue;
    }
    const std::string why = absl::StrCat("agent ", name, " came back without the trial");
    Unassign(found, DecideAfterLoss(*found.trial, why, options_), Left::kLost, name);
    NoteLoss(name, why, *found.trial->FindAttempt(key.attempt));
  }
  Advance();
}

void EngineCore::On(const AgentDisconnected& event) {
  if (agents_.Find(event.agent, event.connection) == nullptr) return;
  Lose(event.agent);
  Log(LogLevel::kWarning, absl::StrCat("agent ", event.agent, " lost its connection"),
      {.agent = event.agent});
  // It may be only the network: its trials wait for a grace period before they go to other agents.
  // If a follower is gone, the leader reports it first.
  const MonotonicTime grace = now_ + options_.reconnect_grace;
  for (const Found& held : HeldBy(event.agent)) {
    GivenAttempt& attempt = *held.trial->Held();
    const bool runs = held.trial->state == db::TrialState::kRunning;
    if (runs && attempt.leader() != event.agent) continue;
    GivenMember& member = *attempt.Find(event.agent);
    SetLease(member, std::min(member.lease_ends, grace));
  }
  Advance();
}

void EngineCore::On(const AgentLeft& event) {
  if (agents_.Find(event.agent, event.connection) == nullptr) return;
  if (!store_is_up_) {
    On(AgentDisconnected{event.agent, event.connection});
    lost_agents_.Forget(event.agent);
    return;
  }
  agents_.Remove(event.agent);
  Log(LogLevel::kInfo, absl::StrCat("agent ", event.agent, " left: ", event.reason),
      {.agent = event.agent});
  for (const Found& held : HeldBy(event.agent)) {
    Unassign(held,
             {false, absl::StrCat("agent ", event.agent, " left (", event.reason,
                                  "); the trial runs again as attempt ", held.trial->attempt + 1)},
             Left::kReturned, event.agent);
  }
  Advance();
}

bool EngineCore::TakeBack(const ConnectedAgent& agent, const wire::AttemptKey& key,
                          const Found& found) {
  ActiveTrial& trial = *found.trial;
  // Only the trial's last attempt may return, because the number of the next attempt must be new.
  if (trial.state != db::TrialState::kPending || key.attempt != trial.attempt - 1) return false;
  GivenAttempt* const attempt = trial.FindAttempt(key.attempt);
  // When one of several members is gone, all others end their shares.
  if (attempt == nullptr || attempt->is_of_several() || attempt->broken ||
      attempt->Find(agent.info.name) == nullptr) {
    return false;
  }
  const std::string reason = absl::StrCat("agent ", agent.info.name, " came back with attempt ",
                                          key.attempt, ", which goes on");
  db::TrialTransition transition = TransitionOf(found);
  transition.to_state = db::TrialState::kRunning;
  transition.to_attempt = key.attempt;
  transition.reason = reason;
  transition.agent = agent.info.name;
  transition.host = agent.info.host;
  transition.event_kind = "trial_running";
  transition.event_message = reason;
  transition.event_data_json =
      ToJson(wire::TrialPlaced{.layout = trial.layout, .agent = agent.info.name}).dump();
  output_.ops.emplace_back(std::move(transition));
  trial.lost_attempts -= attempt->lost ? 1 : 0;
  attempt->lost = false;
  attempt->members.front().part.failed = false;
  if (std::exchange(attempt->counts, false)) TakeFailureBack(agent.info.name);
  trial.attempt = key.attempt;
  found.sweep->SetState(trial, db::TrialState::kRunning);
  SetRunning(*found.sweep);
  return true;
}

void EngineCore::Renew(ConnectedAgent& agent, const wire::AttemptKey& key) {
  const Found found = Find(key);
  GivenMember* const member = found ? found.trial->HeldBy(agent.info.name, key.attempt) : nullptr;
  if (member != nullptr) {
    member->may_be_unsent = false;
    SetLease(*member, now_ + options_.lease);
    return;
  }
  // While the store can't be written, the trial's state may not be stored yet, and decides nothing.
  if (!store_is_up_) return;
  if (found && TakeBack(agent, key, found)) {
    SetLease(*found.trial->HeldBy(agent.info.name, key.attempt), now_ + options_.lease);
    return;
  }
  AddCancel(agent.connection, key, NotTheOne(key, found.trial));
}

std::optional<HeldAttempt::Devices> EngineCore::DevicesOf(const ConnectedAgent& agent,
                                                          const wire::AttemptKey& key) {
  for (const HeldAttempt& before : agent.held) {
    if (before.key == key) return before.devices;
  }
  const Found found = Find(key);
  const GivenAttempt* const attempt = found ? found.trial->FindAttempt(key.attempt) : nullptr;
  const GivenMember* const member = attempt ? attempt->Find(agent.info.name) : nullptr;
  if (member == nullptr) return std::nullopt;
  return HeldAttempt::Devices{member->part.first_device, member->part.ranks};
}

void EngineCore::TakeHeld(ConnectedAgent& agent, const std::vector<wire::AttemptKey>& named) {
  agent.last_heard = now_;
  std::vector<HeldAttempt> held;
  for (const wire::AttemptKey& key : named) {
    if (HasKey(agent.answered, key)) continue;
    Renew(agent, key);
    held.push_back({key, /*confirmed=*/true, DevicesOf(agent, key)});
  }
  for (const HeldAttempt& before : agent.held) {
    if (!before.confirmed && !HasKey(named, before.key)) held.push_back(before);
  }
  agents_.SetHeld(agent, std::move(held), now_);
  std::erase_if(agent.answered, [&](const wire::AttemptKey& key) { return !HasKey(named, key); });
}

void EngineCore::SetQuarantine(const db::AgentQuarantine& quarantine) {
  if (quarantine == agents_.QuarantineOf(quarantine.agent)) return;
  agents_.SetQuarantine(quarantine);
  output_.ops.emplace_back(quarantine);
}

void EngineCore::NoteFailure(const std::string& agent, const std::string& why) {
  db::AgentQuarantine quarantine = agents_.QuarantineOf(agent);
  ++quarantine.failures;
  if (quarantine.failures >= options_.max_agent_failures && quarantine.set_aside_reason.empty()) {
    quarantine.set_aside_reason =
        absl::StrCat(quarantine.failures, " infrastructure failures in a row; the last: ", why);
    Log(LogLevel::kWarning,
        absl::StrCat("agent ", agent, " is quarantined: ", quarantine.set_aside_reason,
                     "; `meshwright agents resume ", agent, "` gives it trials again"),
        {.agent = agent});
  }
  SetQuarantine(quarantine);
}

void EngineCore::NoteLoss(const std::string& agent, const std::string& why, GivenAttempt& attempt) {
  if (!noted_losses_.insert(agent).second) return;
  attempt.counts = true;
  NoteFailure(agent, why);
}

void EngineCore::NoteWorks(const std::string& agent) {
  db::AgentQuarantine quarantine = agents_.QuarantineOf(agent);
  quarantine.failures = 0;
  SetQuarantine(quarantine);
  if (ConnectedAgent* const connected = agents_.Find(agent)) connected->unasked_cancels = 0;
}

void EngineCore::TakeFailureBack(const std::string& agent) {
  db::AgentQuarantine quarantine = agents_.QuarantineOf(agent);
  quarantine.failures = std::max(quarantine.failures - 1, 0);
  if (quarantine.failures < options_.max_agent_failures) quarantine.set_aside_reason.clear();
  SetQuarantine(quarantine);
}

absl::Status EngineCore::CheckHasAgent(const std::string& agent) const {
  const bool is_known =
      agents_.all().contains(agent) || lost_agents_.Has(agent) || agents_.HasQuarantine(agent);
  if (!is_known) {
    return absl::NotFoundError(absl::StrCat("no agent named \"", agent, "\" is connected"));
  }
  return store_is_up_ ? absl::OkStatus()
                      : absl::UnavailableError("the store can't be written now: try again");
}

void EngineCore::On(const DrainRequested& event) {
  output_.status = CheckHasAgent(event.agent);
  if (!output_.status.ok()) return;
  db::AgentQuarantine quarantine = agents_.QuarantineOf(event.agent);
  quarantine.drained = true;
  Log(LogLevel::kInfo,
      absl::StrCat("agent ", event.agent, " was drained",
                   event.actor.empty() ? "" : absl::StrCat(" by ", event.actor)),
      {.agent = event.agent, .caller = event.actor});
  SetQuarantine(quarantine);
  Advance();
}

void EngineCore::On(const ResumeRequested& event) {
  output_.status = CheckHasAgent(event.agent);
  if (!output_.status.ok()) return;
  Log(LogLevel::kInfo,
      absl::StrCat("agent ", event.agent, " gets trials again",
                   event.actor.empty() ? "" : absl::StrCat(", by ", event.actor)),
      {.agent = event.agent, .caller = event.actor});
  SetQuarantine({.agent = event.agent});
  Advance();
}

void EngineCore::On(const HeartbeatCame& event) {
  ConnectedAgent* const agent = agents_.Find(event.agent);
  if (agent == nullptr) return;
  const bool was_heard = now_ <= agent->last_heard + kMissedHeartbeats * options_.heartbeat;
  const int32_t free_slots = agent->free.free_slots();
  TakeHeld(*agent, event.held);
  // A silent agent was assigned nothing. Where nothing changed there is nothing to decide.
  if (!was_heard || agent->free.free_slots() > free_slots) Advance();
}

GivenMember* EngineCore::Confirm(const std::string& agent, const wire::AttemptKey& key,
                                 const Found& found) {
  ConnectedAgent* const connected = agents_.Find(agent);
  if (connected == nullptr || !found) return nullptr;
  GivenMember* const member = found.trial->HeldBy(agent, key.attempt);
  if (member == nullptr) return nullptr;
  agents_.Confirm(*connected, key);
  member->may_be_unsent = false;
  return member;
}

void EngineCore::On(const TrialStarted& event) {
  const Found found = Find(event.key);
  if (Confirm(event.agent, event.key, found) == nullptr) return;
  // A trial of several agents runs once its leader has begun.
  if (found.trial->state != db::TrialState::kAssigned ||
      found.trial->Held()->leader() != event.agent) {
    return;
  }
  const std::string reason = absl::StrCat("runs on agent ", event.agent);
  db::TrialTransition transition = TransitionOf(found);
  transition.to_state = db::TrialState::kRunning;
  transition.reason = reason;
  transition.event_kind = "trial_running";
  transition.event_message = reason;
  transition.event_data_json =
      ToJson(wire::TrialPlaced{.layout = found.trial->layout, .agent = event.agent}).dump();
  output_.ops.emplace_back(std::move(transition));
  found.sweep->SetState(*found.trial, db::TrialState::kRunning);
}

void EngineCore::On(const TrialProgressed& event) {
  const Found found = Find(event.key);
  if (!found || found.trial->HeldBy(event.agent, event.key.attempt) == nullptr) return;
  const trial::TrialProgress& progress = event.progress;
  const bool sound = progress.step >= 0 && progress.step <= progress.steps &&
                     std::isfinite(progress.step_s) && progress.step_s >= 0.0;
  if (!sound) return;
  db::EventRecord record{.sweep_id = found.sweep->id(),
                         .trial = event.key.trial,
                         .attempt = event.key.attempt,
                         .kind = "trial_progress",
                         .time = wall_};
  record.message =
      absl::StrFormat("step %d of %d on agent %s", progress.step, progress.steps, event.agent);
  record.data_json = ToJson(wire::TrialStep{.layout = found.trial->layout,
                                            .step = progress.step,
                                            .steps = progress.steps,
                                            .step_s = progress.step_s,
                                            .loss = progress.loss.value_or(0.0)})
                         .dump();
  output_.progress = std::move(record);
}

}  // namespace meshwright::server
