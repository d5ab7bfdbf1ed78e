// The part of SweepEngine that hears from agents.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/trial/utilisation.h"
#include "nlohmann/json.hpp"
#include "planner/spec/status_macros.h"
#include "server/sweep_engine.h"

namespace meshwright {
namespace {

TrialState StateAfter(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return TrialState::kOk;
    case Outcome::kOom:
      return TrialState::kOom;
    case Outcome::kTimeout:
      return TrialState::kTimeout;
    case Outcome::kFailed:
    case Outcome::kCancelled:
      return TrialState::kFailed;
  }
  return TrialState::kFailed;
}

MeasuredTrial Measured(const TrialResult& result) {
  MeasuredTrial measured;
  measured.result_json = ToJson(result).dump();
  measured.worker_version = result.worker_version;
  for (const RankResult& rank : result.ranks) {
    measured.peak_bytes = std::max(measured.peak_bytes.value_or(0), rank.peak_bytes);
  }
  if (result.outcome == Outcome::kOk) {
    if (result.peak_flops.has_value()) measured.mfu = result.mfu_of_peak;
    measured.step_s = result.step_s;
  }
  return measured;
}

// MFU as shares of the peak that the trial was planned for, whatever its worker knew: those of a
// sweep compare, on whichever agents they ran.
TrialResult AgainstThePlansPeak(TrialResult result, const std::string& plan_json) {
  const nlohmann::json json = nlohmann::json::parse(plan_json, nullptr, /*allow_exceptions=*/false);
  const absl::StatusOr<TrialPlan> plan = TrialPlanFromJson(json);
  if (plan.ok() && result.outcome == Outcome::kOk) {
    AddUtilisation(*plan, plan->layout.devices(), result);
  }
  return result;
}

std::string Summary(const TrialResult& result) {
  if (result.outcome != Outcome::kOk) return result.message.substr(0, result.message.find('\n'));
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

std::string ResultEvent(const TrialRecord& trial, std::string_view state, const TrialResult& result,
                        const MeasuredTrial& measured) {
  nlohmann::json data = {{"layout", trial.layout}, {"state", std::string(state)}};
  if (measured.step_s) data["step_s"] = *measured.step_s;
  if (result.step_interval) {
    data["step_low_s"] = result.step_interval->low_s;
    data["step_high_s"] = result.step_interval->high_s;
  }
  if (measured.mfu) {
    data["mfu"] = *measured.mfu;
    data["mfu_causal"] = result.mfu_causal_of_peak;
  }
  if (measured.peak_bytes) data["peak_bytes"] = *measured.peak_bytes;
  if (!result.message.empty()) data["message"] = result.message;
  return data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<SweepEngine::FoundTrial> SweepEngine::Find(const AttemptKey& key) {
  ASSIGN_OR_RETURN(const SweepRecord sweep, store_->GetSweep(key.sweep));
  ASSIGN_OR_RETURN(const TrialRecord trial, store_->GetTrial(sweep.id, key.trial));
  return FoundTrial{sweep, trial};
}

std::vector<SweepEngine::FoundTrial> SweepEngine::HeldBy(const std::string& agent) {
  std::vector<FoundTrial> held;
  const absl::StatusOr<PolicyState> state = LoadState();
  if (!state.ok()) return held;
  for (const SweepView& view : state->sweeps) {
    for (const TrialRecord& trial : view.trials) {
      if (IsHeld(trial.state) && trial.agent == agent) held.push_back({view.sweep, trial});
    }
  }
  return held;
}

void SweepEngine::RenewAll(ConnectedAgent& agent, const std::vector<AttemptKey>& held) {
  for (const AttemptKey& key : held) {
    const absl::StatusOr<FoundTrial> found = Find(key);
    const absl::Status status =
        found.ok()
            ? store_->RenewLease(found->sweep.id, key.trial, key.attempt, clock_() + options_.lease)
            : found.status();
    // Only a clear no ends an attempt; a store that can't be written says nothing about it.
    if (absl::IsAborted(status) || absl::IsNotFound(status)) {
      agent.link->Cancel(key, std::string(status.message()));
    }
  }
}

absl::Status SweepEngine::Connect(AgentInfo info, const std::vector<AttemptKey>& held,
                                  std::shared_ptr<AgentLink> link) {
  absl::MutexLock lock(&mutex_);
  info.connect_time = clock_();
  const std::string name = info.name;
  if (const auto old = agents_.find(name); old != agents_.end()) {
    if (old->second.info.instance != info.instance) {
      return absl::AlreadyExistsError(absl::StrCat(
          "an agent named \"", name, "\" is already connected: choose another --name"));
    }
    old->second.link->Close(absl::AbortedError("the agent connected again"));
    agents_.erase(old);
  }
  Log(absl::StrCat("agent ", name, " connected from ", info.host, " with ", info.devices, " ",
                   info.device_kind, " devices"));
  ConnectedAgent& agent = agents_[name];
  agent = ConnectedAgent{std::move(info), std::move(link), held};
  agent.link->Welcome();
  RenewAll(agent, held);
  for (const FoundTrial& found : HeldBy(name)) {
    const AttemptKey key{found.sweep.name, found.trial.number, found.trial.attempt};
    if (std::find(held.begin(), held.end(), key) != held.end()) continue;
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
  Log(absl::StrCat("agent ", name, " lost its connection"));
  // It may only be the network: its trials wait for a moment before they go to others.
  const absl::Time grace = clock_() + options_.reconnect_grace;
  for (const FoundTrial& held : HeldBy(name)) {
    if (held.trial.lease_expires.value_or(absl::InfinitePast()) <= grace) continue;
    Done(store_->RenewLease(held.sweep.id, held.trial.number, held.trial.attempt, grace),
         held.sweep.id);
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

void SweepEngine::Heartbeat(const std::string& name, const std::vector<AttemptKey>& held) {
  absl::MutexLock lock(&mutex_);
  const auto found = agents_.find(name);
  if (found == agents_.end()) return;
  RenewAll(found->second, held);
}

void SweepEngine::Started(const std::string& name, const AttemptKey& key) {
  absl::MutexLock lock(&mutex_);
  const auto agent = agents_.find(name);
  const absl::StatusOr<FoundTrial> found = Find(key);
  if (agent == agents_.end() || !found.ok()) return;
  const absl::Time now = clock_();
  TrialTransition transition{.sweep_id = found->sweep.id,
                             .number = key.trial,
                             .from_state = TrialState::kAssigned,
                             .from_attempt = key.attempt,
                             .to_state = TrialState::kRunning,
                             .to_attempt = key.attempt,
                             .reason = absl::StrCat("runs on agent ", name),
                             .lease_expires = now + options_.lease,
                             .event_kind = "trial_running",
                             .event_message = absl::StrCat("runs on agent ", name),
                             .time = now};
  transition.event_data_json =
      nlohmann::json{{"layout", found->trial.layout}, {"agent", name}}.dump();
  Done(store_->UpdateTrial(transition), found->sweep.id);
}

void SweepEngine::Progress(const std::string& name, const AttemptKey& key,
                           const TrialProgress& progress) {
  absl::MutexLock lock(&mutex_);
  const absl::StatusOr<FoundTrial> found = Find(key);
  if (!found.ok() || !IsHeld(found->trial.state) || found->trial.attempt != key.attempt) return;
  EventRecord event{.sweep_id = found->sweep.id,
                    .trial = key.trial,
                    .attempt = key.attempt,
                    .kind = "trial_progress",
                    .time = clock_()};
  event.message = absl::StrFormat("step %d of %d on agent %s", progress.step, progress.steps, name);
  event.data_json = nlohmann::json{{"layout", found->trial.layout},
                                   {"step", progress.step},
                                   {"steps", progress.steps},
                                   {"step_s", progress.step_s},
                                   {"loss", progress.loss.value_or(0.0)}}
                        .dump();
  Done(store_->AppendEvent(event).status(), found->sweep.id);
}

FinishVerdict SweepEngine::Refuse(const AttemptKey& key, const FoundTrial& found,
                                  const std::string& agent, const TrialResult& result) {
  const std::string_view state = TrialStateName(found.trial.state);
  const std::string reason = absl::StrCat(
      "attempt ", key.attempt, " is not the one that counts: the trial is ",
      absl::string_view(state.data(), state.size()), " in attempt ", found.trial.attempt);
  // What was cancelled on request needs no record of its end.
  if (result.outcome == Outcome::kCancelled) return {FinishVerdict::Kind::kRefused, reason};
  EventRecord event{.sweep_id = found.sweep.id,
                    .trial = key.trial,
                    .attempt = key.attempt,
                    .kind = "result_refused",
                    .time = clock_()};
  event.message = absl::StrCat("result of agent ", agent, " refused: ", reason);
  event.data_json = ToJson(result).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (!Done(store_->AppendEvent(event).status(), found.sweep.id)) {
    return {FinishVerdict::Kind::kRetry, "the store can't be written"};
  }
  return {FinishVerdict::Kind::kRefused, reason};
}

FinishVerdict SweepEngine::Store(const AttemptKey& key, const std::string& agent,
                                 const TrialResult& told) {
  const absl::StatusOr<FoundTrial> found = Find(key);
  if (!found.ok()) {
    const std::string reason(found.status().message());
    return {absl::IsNotFound(found.status()) ? FinishVerdict::Kind::kRefused
                                             : FinishVerdict::Kind::kRetry,
            reason};
  }
  const TrialRecord& trial = found->trial;
  const TrialResult result = AgainstThePlansPeak(told, trial.plan_json);
  const bool same_attempt = trial.attempt == key.attempt;
  if (same_attempt && HasEnded(trial.state) && trial.measured) {
    return {FinishVerdict::Kind::kStored, "it was stored before"};
  }
  if (!same_attempt || !IsHeld(trial.state)) return Refuse(key, *found, agent, result);
  if (result.outcome == Outcome::kCancelled) {
    const bool requeued = Unassign({ActionType::kRequeue, found->sweep.id, trial.number, "",
                                    absl::StrCat("agent ", agent, " stopped it; it runs again")},
                                   trial, /*lost=*/false);
    return {requeued ? FinishVerdict::Kind::kRefused : FinishVerdict::Kind::kRetry,
            "a cancelled attempt has no result"};
  }
  const TrialState state = StateAfter(result.outcome);
  TrialTransition transition{.sweep_id = found->sweep.id,
                             .number = key.trial,
                             .from_state = trial.state,
                             .from_attempt = key.attempt,
                             .to_state = state,
                             .to_attempt = key.attempt,
                             .reason = Summary(result),
                             .measured = Measured(result),
                             .event_kind = "trial_ended",
                             .event_message = Summary(result),
                             .time = clock_()};
  transition.event_data_json =
      ResultEvent(trial, TrialStateName(state), result, *transition.measured);
  if (!Done(store_->UpdateTrial(transition), found->sweep.id)) {
    return {FinishVerdict::Kind::kRetry, "the store can't be written"};
  }
  return {FinishVerdict::Kind::kStored, ""};
}

FinishVerdict SweepEngine::Finish(const std::string& name, const AttemptKey& key,
                                  const TrialResult& result) {
  absl::MutexLock lock(&mutex_);
  const FinishVerdict verdict = Store(key, name, result);
  if (verdict.kind == FinishVerdict::Kind::kRetry) return verdict;
  if (const auto agent = agents_.find(name); agent != agents_.end()) {
    std::erase(agent->second.held, key);
  }
  Step();
  return verdict;
}

std::vector<AgentStatus> SweepEngine::ListAgents() {
  absl::MutexLock lock(&mutex_);
  std::vector<AgentStatus> agents;
  for (const auto& [name, agent] : agents_) agents.push_back({agent.info, agent.held});
  return agents;
}

void SweepEngine::CloseAgents(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, agent] : agents_) agent.link->Close(status);
}

}  // namespace meshwright
