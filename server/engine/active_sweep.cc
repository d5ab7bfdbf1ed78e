#include "server/engine/active_sweep.h"

#include <algorithm>

namespace meshwright::server {

GivenAttempt* ActiveTrial::FindAttempt(int32_t attempt_number) {
  for (GivenAttempt& one : given) {
    if (one.number == attempt_number) return &one;
  }
  return nullptr;
}

bool ActiveTrial::WasLostBy(const std::string& agent_name) const {
  return std::any_of(given.begin(), given.end(),
                     [&](const GivenAttempt& one) { return one.lost && one.agent == agent_name; });
}

bool ActiveTrial::BrokeOn(const std::string& agent_name) const {
  return std::any_of(given.begin(), given.end(), [&](const GivenAttempt& one) {
    return one.broken && one.agent == agent_name;
  });
}

ActiveSweep::ActiveSweep(const db::SweepRecord& sweep, const std::vector<db::TrialHead>& trials,
                         const std::vector<db::AttemptHead>& attempts)
    : state(sweep.state),
      reason(sweep.reason),
      id_(sweep.id),
      name_(sweep.name),
      device_kind_(sweep.device_kind),
      devices_(sweep.devices),
      steps_(sweep.steps),
      memory_limit_bytes_(sweep.memory_limit_bytes) {
  trials_.reserve(trials.size());
  for (const db::TrialHead& head : trials) {
    trials_.push_back({.number = head.number,
                       .layout = head.layout,
                       .state = head.state,
                       .attempt = head.attempt,
                       .agent = head.agent,
                       .host = head.host,
                       .measured = head.measured,
                       .given = {}});
    Count(trials_.back(), 1);
    if (head.state == db::TrialState::kOk && head.step_s) {
      best_step_s = std::min(best_step_s.value_or(*head.step_s), *head.step_s);
    }
  }
  for (const db::AttemptHead& attempt : attempts) {
    if (ActiveTrial* trial = Find(attempt.trial); trial != nullptr) {
      trial->given.push_back({attempt.number, attempt.agent, attempt.host,
                              attempt.outcome == db::kLostOutcome,
                              attempt.outcome == db::kBrokenOutcome});
    }
  }
  // What the store counts includes losses that turned out to be none.
  for (ActiveTrial& trial : trials_) {
    const auto gone =
        std::count_if(trial.given.begin(), trial.given.end(),
                      [](const GivenAttempt& attempt) { return attempt.lost || attempt.broken; });
    trial.lost_attempts = static_cast<int32_t>(gone);
  }
}

ActiveTrial* ActiveSweep::Find(int32_t number) {
  const auto index = static_cast<size_t>(number) - 1;
  return number >= 1 && index < trials_.size() ? &trials_[index] : nullptr;
}

void ActiveSweep::Count(const ActiveTrial& trial, int32_t by) {
  counts_[trial.state] += by;
  const auto note = [&](std::set<int32_t>& numbers) {
    by > 0 ? static_cast<void>(numbers.insert(trial.number))
           : static_cast<void>(numbers.erase(trial.number));
  };
  if (trial.state == db::TrialState::kPending) note(pending_);
  if (db::IsHeld(trial.state)) note(held_);
}

void ActiveSweep::SetState(ActiveTrial& trial, db::TrialState to) {
  Count(trial, -1);
  trial.state = to;
  Count(trial, 1);
  wait_is_told = false;
}

}  // namespace meshwright::server
