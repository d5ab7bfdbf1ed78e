#include "server/engine/active_sweep.h"

#include <algorithm>
#include <utility>

#include "executor/trial/runner_choice.h"
#include "planner/layout/layout.h"

namespace meshwright::server {
namespace {

bool FailedIn(const GivenAttempt& attempt, const std::string& agent) {
  const GivenMember* const member = attempt.Find(agent);
  return member != nullptr && member->part.failed;
}

// Returns the layout's tensor-parallel degree; 1 where the layout can't be read.
int32_t TpOf(const std::string& text) {
  const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(text);
  return layout.ok() ? static_cast<int32_t>(layout->tp) : 1;
}

}  // namespace

GivenMember* GivenAttempt::Find(const std::string& agent) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const GivenMember& member) {
    return member.part.agent == agent;
  });
  return found == members.end() ? nullptr : &*found;
}

const GivenMember* GivenAttempt::Find(const std::string& agent) const {
  return const_cast<GivenAttempt*>(this)->Find(agent);
}

GivenAttempt* ActiveTrial::FindAttempt(int32_t attempt_number) {
  for (GivenAttempt& one : given) {
    if (one.number == attempt_number) return &one;
  }
  return nullptr;
}

GivenAttempt* ActiveTrial::Held() { return db::IsHeld(state) ? FindAttempt(attempt) : nullptr; }

GivenMember* ActiveTrial::HeldBy(const std::string& agent, int32_t attempt_number) {
  GivenAttempt* const held = attempt == attempt_number ? Held() : nullptr;
  return held == nullptr ? nullptr : held->Find(agent);
}

bool ActiveTrial::WasLostBy(const std::string& agent_name) const {
  return std::any_of(given.begin(), given.end(), [&](const GivenAttempt& one) {
    return one.lost && FailedIn(one, agent_name);
  });
}

bool ActiveTrial::BrokeOn(const std::string& agent_name) const {
  return std::any_of(given.begin(), given.end(), [&](const GivenAttempt& one) {
    return one.broken && FailedIn(one, agent_name);
  });
}

ActiveSweep::ActiveSweep(const db::SweepRecord& sweep,
                         const std::vector<db::TrialSummary>& summaries,
                         const std::vector<db::AttemptSummary>& attempts,
                         planner::RelatedSweeps related_sweeps)
    : state(sweep.state),
      reason(sweep.reason),
      id_(sweep.id),
      name_(sweep.name),
      device_kind_(sweep.device_kind),
      runner_(trial::RunnerFileOf(sweep.runner)),
      is_asked_(sweep.asked),
      devices_(sweep.devices),
      steps_(sweep.steps),
      memory_limit_bytes_(sweep.memory_limit_bytes),
      set_(std::make_shared<const ChoiceSet>(ChoiceSetOf(summaries, std::move(related_sweeps)))),
      policy_(PolicyOf(sweep)) {
  trials_.reserve(summaries.size());
  for (const db::TrialSummary& summary : summaries) {
    trials_.push_back({.number = summary.number,
                       .layout = summary.layout,
                       .tp = TpOf(summary.layout),
                       .has_begun = summary.has_begun,
                       .state = summary.state,
                       .attempt = summary.attempt,
                       .measured = summary.measured,
                       .step_s = summary.step_s,
                       .step_noise = summary.step_noise,
                       .given = {}});
    if (summary.has_begun) Count(trials_.back(), 1);
    if (summary.state == db::TrialState::kOk && summary.step_s) {
      best_step_s = std::min(best_step_s.value_or(*summary.step_s), *summary.step_s);
    }
  }
  for (const db::AttemptSummary& attempt : attempts) {
    if (ActiveTrial* trial = Find(attempt.trial); trial != nullptr) {
      GivenAttempt& given = trial->given.emplace_back();
      given.number = attempt.number;
      given.lost = attempt.outcome == db::kLostOutcome;
      given.broken = attempt.outcome == db::kBrokenOutcome;
      given.counts = given.lost;
      given.lease_end = attempt.lease_end;
      for (const db::AttemptMember& member : attempt.members) given.members.push_back({member});
    }
  }
  // The store also counts losses that were taken back later.
  for (ActiveTrial& trial : trials_) {
    const auto gone =
        std::count_if(trial.given.begin(), trial.given.end(),
                      [](const GivenAttempt& attempt) { return attempt.lost || attempt.broken; });
    trial.lost_attempts = static_cast<int32_t>(gone);
  }
  open_ = std::count_if(set_->numbers.begin(), set_->numbers.end(),
                        [&](int32_t number) { return !Find(number)->has_begun; });
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

void ActiveSweep::Begin(ActiveTrial& trial) {
  trial.has_begun = true;
  Count(trial, 1);
  --open_;
  ++revision_;
}

void ActiveSweep::SetState(ActiveTrial& trial, db::TrialState to) {
  const bool is_new = db::HasEnded(trial.state) || db::HasEnded(to);
  Count(trial, -1);
  trial.state = to;
  Count(trial, 1);
  look_at_wait = MonotonicTime::Always();
  if (is_new) Learn();
}

void ActiveSweep::Learn() {
  ++revision_;
  has_answer_ = false;
  chosen_.clear();
  stop_reason_.clear();
}

int64_t ActiveSweep::WaitingTrials() const {
  const auto pending = static_cast<int64_t>(pending_.size());
  if (!MayChoose()) return pending;
  const int64_t begun = static_cast<int64_t>(set_->numbers.size()) - open_;
  return pending + std::clamp<int64_t>(policy_.max_trials - begun, 0, open_);
}

std::optional<ChoiceQuestion> ActiveSweep::AskFor(int32_t most) {
  if (!MayChoose() || waits_for_answer_ || has_answer_) return std::nullopt;
  waits_for_answer_ = true;
  return ChoiceQuestion{.sweep_id = id_,
                        .revision = revision_,
                        .most = most,
                        .set = set_,
                        .findings = FindingsOf(*set_, trials_),
                        .options = policy_};
}

void ActiveSweep::TakeAnswer(const ChoiceMade& made) {
  if (!waits_for_answer_) return;
  waits_for_answer_ = false;
  has_answer_ = made.revision == revision_ || !made.trials.empty();
  chosen_.assign(made.trials.begin(), made.trials.end());
  if (made.revision == revision_ && made.trials.empty()) stop_reason_ = made.stop_reason;
}

const ChosenTrial* ActiveSweep::NextChosen() {
  while (!chosen_.empty() && Find(chosen_.front().number)->has_begun) DropChosen();
  return chosen_.empty() ? nullptr : &chosen_.front();
}

std::optional<ChosenTrial> ActiveSweep::TakeChosen() {
  const ChosenTrial* const next = NextChosen();
  if (next == nullptr) return std::nullopt;
  const ChosenTrial taken = *next;
  DropChosen();
  return taken;
}

void ActiveSweep::DropChosen() {
  chosen_.pop_front();
  // Until this trial has begun, nobody knows whether there is another one to ask for.
  if (chosen_.empty()) has_answer_ = false;
}

}  // namespace meshwright::server
