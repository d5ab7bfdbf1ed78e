// The part of SweepEngine that hears from agents.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/agent/event_details.h"
#include "planner/base/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/sweep_engine.h"

namespace meshwright::server {
namespace {

bool Contains(const std::vector<agent::AttemptKey>& keys, const agent::AttemptKey& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool Holds(const std::string& agent, const agent::AttemptKey& key, const db::TrialRecord& trial) {
  return db::IsHeld(trial.state) && trial.attempt == key.attempt && trial.agent == agent;
}

std::string NotTheOne(const agent::AttemptKey& key, const db::TrialRecord& trial) {
  const std::string_view state = db::TrialStateName(trial.state);
  return absl::StrCat("attempt ", key.attempt, " does not count: the trial is ",
                      absl::string_view(state.data(), state.size()), " in attempt ", trial.attempt);
}

}  // namespace

absl::StatusOr<SweepEngine::FoundTrial> SweepEngine::Find(const agent::AttemptKey& key) {
  ASSIGN_OR_RETURN(const db::SweepRecord sweep, store_->GetSweep(key.sweep));
  ASSIGN_OR_RETURN(const db::TrialRecord trial, store_->GetTrial(sweep.id, key.trial));
  return FoundTrial{sweep, trial};
}

std::vector<SweepEngine::FoundTrial> SweepEngine::HeldBy(const std::string& agent) {
  std::vector<FoundTrial> held;
  const absl::StatusOr<PolicyState> state = LoadState();
  if (!state.ok()) return held;
  for (const SweepView& view : state->sweeps) {
    for (const db::TrialRecord& trial : view.trials) {
      if (db::IsHeld(trial.state) && trial.agent == agent) held.push_back({view.sweep, trial});
    }
  }
  return held;
}

void SweepEngine::CancelOn(const std::string& agent, const agent::AttemptKey& key,
                           const std::string& reason) {
  if (const auto found = agents_.find(agent); found != agents_.end()) {
    found->second.link->Cancel(key, reason);
  }
}

absl::Status SweepEngine::CheckReplaces(const AgentInfo& info, ConnectedAgent& connected) {
  const host::MonotonicTime now = monotonic_clock_();
  const AgentInfo& other = connected.info;
  if (other.instance == info.instance) return absl::OkStatus();
  if (!info.identity.empty() && info.identity == other.identity) {
    if (connected.claimant != info.instance) {
      connected.claimant = info.instance;
      connected.claimed = now;
    }
    // A process that has ended is heard of no more, and loses its place before this is over.
    const host::MonotonicTime ends = connected.claimed + options_.lease;
    if (now < ends) {
      return absl::AbortedError(absl::StrCat(
          "agent ", info.name, " is connected, maybe as it was before it was started anew: it ",
          "loses its place unless it is heard of within ",
          absl::FormatDuration(ends.since_start - now.since_start)));
    }
  }
  return absl::AlreadyExistsError(absl::StrCat("an agent named \"", info.name,
                                               "\" is already connected, from ", other.host,
                                               ": choose another --name, or end that one"));
}

void SweepEngine::DropSilentAgents() {
  const host::MonotonicTime now = monotonic_clock_();
  for (auto next = agents_.begin(); next != agents_.end();) {
    const auto agent = next++;
    if (agent->second.last_heard + options_.lease > now) continue;
    const std::string silence =
        absl::StrCat("gave no sign of life for ", absl::FormatDuration(options_.lease));
    Log(absl::StrCat("agent ", agent->first, " ", silence), host::LogLevel::kWarning);
    agent->second.link->Close(absl::DeadlineExceededError(absl::StrCat("the agent ", silence)));
    agents_.erase(agent);
  }
}

bool SweepEngine::TakeBack(const ConnectedAgent& agent, const agent::AttemptKey& key,
                           const FoundTrial& found) {
  const db::TrialRecord& trial = found.trial;
  // Only the last one: the number of the next must be a new one.
  if (trial.state != db::TrialState::kPending || key.attempt != trial.attempt - 1) return false;
  const absl::StatusOr<db::AttemptRecord> attempt = FindAttempt(found, key.attempt);
  if (!attempt.ok() || attempt->agent != agent.info.name) return false;
  const std::string reason = absl::StrCat("agent ", agent.info.name, " came back with attempt ",
                                          key.attempt, ", which goes on");
  db::TrialTransition transition{.sweep_id = found.sweep.id,
                                 .number = trial.number,
                                 .from_state = trial.state,
                                 .from_attempt = trial.attempt,
                                 .to_state = db::TrialState::kRunning,
                                 .to_attempt = key.attempt,
                                 .reason = reason,
                                 .agent = agent.info.name,
                                 .host = agent.info.host,
                                 .event_kind = "trial_running",
                                 .event_message = reason,
                                 .time = clock_()};
  transition.event_data_json =
      ToJson(agent::TrialPlaced{.layout = trial.layout, .agent = agent.info.name}).dump();
  if (!Done(store_->UpdateTrial(transition), found.sweep.id)) return false;
  SetRunning(found.sweep);
  return true;
}

void SweepEngine::Renew(ConnectedAgent& agent, const agent::AttemptKey& key) {
  const absl::StatusOr<FoundTrial> found = Find(key);
  // Only a clear no ends an attempt; a store that can't be read says nothing about it.
  const bool counts =
      found.ok() ? Holds(agent.info.name, key, found->trial) || TakeBack(agent, key, *found)
                 : !absl::IsNotFound(found.status());
  if (counts) {
    lease_ends_[key] = monotonic_clock_() + options_.lease;
  } else {
    agent.link->Cancel(
        key, found.ok() ? NotTheOne(key, found->trial) : std::string(found.status().message()));
  }
}

void SweepEngine::TakeHeld(ConnectedAgent& agent, const std::vector<agent::AttemptKey>& named) {
  agent.last_heard = monotonic_clock_();
  std::vector<HeldAttempt> held;
  for (const agent::AttemptKey& key : named) {
    if (Contains(agent.answered, key)) continue;
    Renew(agent, key);
    held.push_back({key, /*confirmed=*/true});
  }
  for (const HeldAttempt& before : agent.held) {
    if (!before.confirmed && !Contains(named, before.key)) held.push_back(before);
  }
  agent.held = std::move(held);
  std::erase_if(agent.answered,
                [&](const agent::AttemptKey& key) { return !Contains(named, key); });
}

absl::Status SweepEngine::Connect(AgentInfo info, const std::vector<agent::AttemptKey>& held,
                                  std::shared_ptr<AgentLink> link) {
  absl::MutexLock lock(&mutex_);
  DropSilentAgents();
  info.connect_time = clock_();
  const std::string name = info.name;
  if (const auto old = agents_.find(name); old != agents_.end()) {
    RETURN_IF_ERROR(CheckReplaces(info, old->second));
    old->second.link->Close(absl::AbortedError("the agent connected again"));
    agents_.erase(old);
  }
  Log(absl::StrCat("agent ", name, " connected from ", info.host, " with ", info.devices, " ",
                   info.device_kind, " devices"));
  ConnectedAgent& agent = agents_[name];
  agent = ConnectedAgent{.info = std::move(info), .link = std::move(link)};
  agent.link->Welcome();
  TakeHeld(agent, held);
  for (const FoundTrial& found : HeldBy(name)) {
    const agent::AttemptKey key{found.sweep.name, found.trial.number, found.trial.attempt};
    if (Contains(held, key)) continue;
    Unassign(AfterLoss(found.trial, absl::StrCat("agent ", name, " came back without it"), policy_),
             found.trial, /*lost=*/true);
  }
  Step();
  return absl::OkStatus();
}

void SweepEngine::Disconnect(const std::string& name, const AgentLink* link) {
  absl::MutexLock lock(&mutex_);
  const auto found = agents_.find(name);
  if (found == agents_.end() || found->second.link.get() != link) return;
  agents_.erase(found);
  Log(absl::StrCat("agent ", name, " lost its connection"), host::LogLevel::kWarning);
  // It may only be the network: its trials wait for a moment before they go to others.
  const host::MonotonicTime grace = monotonic_clock_() + options_.reconnect_grace;
  for (const FoundTrial& held : HeldBy(name)) {
    host::MonotonicTime& ends =
        lease_ends_[{held.sweep.name, held.trial.number, held.trial.attempt}];
    ends = std::min(ends, grace);
  }
  Step();
}

void SweepEngine::Leave(const std::string& name, const AgentLink* link, const std::string& reason) {
  absl::MutexLock lock(&mutex_);
  const auto found = agents_.find(name);
  if (found == agents_.end() || found->second.link.get() != link) return;
  agents_.erase(found);
  Log(absl::StrCat("agent ", name, " left: ", reason));
  for (const FoundTrial& held : HeldBy(name)) {
    Unassign({ActionType::kRequeue, held.sweep.id, held.trial.number, "",
              absl::StrCat("agent ", name, " left (", reason, "); it runs again as attempt ",
                           held.trial.attempt + 1)},
             held.trial, /*lost=*/false);
  }
  Step();
}

void SweepEngine::Heartbeat(const std::string& name, const std::vector<agent::AttemptKey>& held) {
  absl::MutexLock lock(&mutex_);
  const auto found = agents_.find(name);
  if (found == agents_.end()) return;
  TakeHeld(found->second, held);
  if (found->second.held.empty()) Step();
}

void SweepEngine::Started(const std::string& name, const agent::AttemptKey& key) {
  absl::MutexLock lock(&mutex_);
  const auto agent = agents_.find(name);
  const absl::StatusOr<FoundTrial> found = Find(key);
  if (agent == agents_.end() || !found.ok() || !Holds(name, key, found->trial)) return;
  for (HeldAttempt& held : agent->second.held) held.confirmed = held.confirmed || held.key == key;
  db::TrialTransition transition{.sweep_id = found->sweep.id,
                                 .number = key.trial,
                                 .from_state = db::TrialState::kAssigned,
                                 .from_attempt = key.attempt,
                                 .to_state = db::TrialState::kRunning,
                                 .to_attempt = key.attempt,
                                 .reason = absl::StrCat("runs on agent ", name),
                                 .event_kind = "trial_running",
                                 .event_message = absl::StrCat("runs on agent ", name),
                                 .time = clock_()};
  transition.event_data_json =
      ToJson(agent::TrialPlaced{.layout = found->trial.layout, .agent = name}).dump();
  Done(store_->UpdateTrial(transition), found->sweep.id);
}

void SweepEngine::Progress(const std::string& name, const agent::AttemptKey& key,
                           const trial::TrialProgress& progress) {
  absl::MutexLock lock(&mutex_);
  const absl::StatusOr<FoundTrial> found = Find(key);
  if (!found.ok() || !Holds(name, key, found->trial)) return;
  const bool sound = progress.step >= 0 && progress.step <= progress.steps &&
                     std::isfinite(progress.step_s) && progress.step_s >= 0.0;
  if (!sound) return;
  db::EventRecord event{.sweep_id = found->sweep.id,
                        .trial = key.trial,
                        .attempt = key.attempt,
                        .kind = "trial_progress",
                        .time = clock_()};
  event.message = absl::StrFormat("step %d of %d on agent %s", progress.step, progress.steps, name);
  event.data_json = ToJson(agent::TrialStep{.layout = found->trial.layout,
                                            .step = progress.step,
                                            .steps = progress.steps,
                                            .step_s = progress.step_s,
                                            .loss = progress.loss.value_or(0.0)})
                        .dump();
  Done(store_->AppendEvent(event).status(), found->sweep.id);
}

std::vector<AgentStatus> SweepEngine::ListAgents() {
  absl::MutexLock lock(&mutex_);
  std::vector<AgentStatus> agents;
  for (const auto& [name, agent] : agents_) {
    agents.push_back({agent.info, {}});
    for (const HeldAttempt& held : agent.held) agents.back().held.push_back(held.key);
  }
  return agents;
}

void SweepEngine::CloseAgents(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, agent] : agents_) agent.link->Close(status);
}

}  // namespace meshwright::server
