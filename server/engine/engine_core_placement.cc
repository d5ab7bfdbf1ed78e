// EngineCore's assignment of trials to agents.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/system/host_port.h"
#include "executor/wire/event_details.h"
#include "server/engine/engine_core.h"

namespace meshwright::server {
namespace {

// Trials that are chosen at a time. Each choice takes those already assigned into account, so that
// it takes longer than the one before it.
constexpr size_t kMostChosen = 16;

}  // namespace

std::vector<ActiveSweep*> EngineCore::InTurns() {
  std::vector<ActiveSweep*> sweeps;
  for (auto& [id, sweep] : sweeps_) sweeps.push_back(&sweep);
  std::stable_sort(sweeps.begin(), sweeps.end(), [](const ActiveSweep* a, const ActiveSweep* b) {
    return a->last_turn < b->last_turn;
  });
  return sweeps;
}

void EngineCore::PlaceInTurns() {
  // A sweep that is alone takes all of its turns at once.
  const size_t most = sweeps_.size() == 1 ? std::max(agents_.all().size(), size_t{1}) : 1;
  for (bool gave = true; gave;) {
    gave = false;
    reserved_.clear();
    for (ActiveSweep* sweep : InTurns()) gave |= GiveTurn(*sweep, most);
  }
}

bool EngineCore::GiveTurn(ActiveSweep& sweep, size_t most) {
  if (sweep.pending().empty() && !sweep.MayChoose()) return false;
  AgentPool pool(now_, sweep, agents_, reserved_, options_);
  size_t given = 0;
  while (given < most && pool.has_room()) {
    const std::optional<Placement> placement = PlaceNext(sweep, pool, reserved_);
    if (!placement) break;
    Assign(sweep, *sweep.Find(placement->trial), placement->members, placement->reason);
    ++given;
  }
  given += PlaceChosen(sweep, pool, most - given);
  return given > 0;
}

size_t EngineCore::PlaceChosen(ActiveSweep& sweep, AgentPool& pool, size_t most) {
  if (!sweep.MayChoose() || most == 0) return 0;
  size_t given = 0;
  while (given < most) {
    const ChosenTrial* const chosen = sweep.NextChosen();
    if (chosen == nullptr) break;
    ActiveTrial& trial = *sweep.Find(chosen->number);
    const std::vector<db::AttemptMember> members = pool.Take(trial);
    if (members.empty()) {
      Reserve(pool.Keep(trial));
      return given;
    }
    const ChosenTrial taken = *sweep.TakeChosen();
    Assign(sweep, trial, members, PlacementReason(taken.reason, members, sweep), taken.gain);
    ++given;
  }
  // Agents that wait for the answer. Choosing takes so long that a question covers more than this
  // turn's trial.
  std::vector<std::string> waiting;
  size_t wanted = 0;
  for (; wanted < kMostChosen; ++wanted) {
    const std::vector<db::AttemptMember> members = pool.TakeForOne();
    if (members.empty()) break;
    for (const db::AttemptMember& member : members) waiting.push_back(member.agent);
  }
  // The engine asks for the next trial before an agent is free, to learn whether there is one.
  if (wanted == 0 && !sweep.AllEnded()) return given;
  if (auto question = sweep.AskFor(static_cast<int32_t>(std::max(wanted, size_t{1})))) {
    output_.questions.push_back(*std::move(question));
  }
  if (sweep.WaitsForAnswer()) Reserve(waiting);
  return given;
}

void EngineCore::Reserve(const std::vector<std::string>& agents) {
  reserved_.insert(agents.begin(), agents.end());
}

void EngineCore::TellWait(ActiveSweep& sweep) {
  // A sweep with a running trial does not wait, and one that is choosing waits only briefly.
  if (!sweep.held().empty() || sweep.WaitsForAnswer()) {
    sweep.waits_since = MonotonicTime::Never();
    if (!sweep.held().empty()) sweep.waits_for_nodes_since = MonotonicTime::Never();
    return;
  }
  sweep.waits_since = std::min(sweep.waits_since, now_);
  if (now_ < sweep.look_at_wait) return;
  const WaitReason why = WaitOf(sweep);
  const MonotonicTime told = sweep.waits_since + options_.turn_patience;
  if (why.is_for_a_turn && SaysThatItRuns(sweep) && now_ < told) {
    sweep.look_at_wait = told;
    return;
  }
  if (sweep.reason != why.text) SetSweep(sweep, sweep.state, why.text, "sweep_waiting");
  sweep.look_at_wait = MonotonicTime::Never();
}

WaitReason EngineCore::WaitOf(ActiveSweep& sweep) const {
  WaitReason why = WhyItWaits(sweep, agents_);
  const bool has_nodes_queued = !sweep.is_asked() && !nodes_queued_.text.empty() &&
                                nodes_queued_.device_kind == sweep.device_kind();
  if (!has_nodes_queued) return why;
  sweep.waits_for_nodes_since = std::min(sweep.waits_for_nodes_since, now_);
  absl::StrAppend(&why.text, "; ", nodes_queued_.text);
  return why;
}

void EngineCore::Assign(ActiveSweep& sweep, ActiveTrial& trial,
                        const std::vector<db::AttemptMember>& members, std::string reason,
                        std::optional<double> gain) {
  if (sweep.waits_for_nodes_since != MonotonicTime::Never()) {
    const absl::Duration waited = now_.since_start - sweep.waits_for_nodes_since.since_start;
    absl::StrAppend(&reason, "; the sweep waited ", absl::ToInt64Seconds(waited),
                    " s for nodes in the queue");
  }
  GivenAttempt& attempt = Hold(sweep, trial, members, reason, gain, std::nullopt);
  const wire::AttemptKey key{sweep.name(), trial.number, trial.attempt};
  for (size_t member = 0; member < members.size(); ++member) {
    SetLease(attempt.members[member], now_ + options_.lease);
    ConnectedAgent& agent = *agents_.Find(members[member].agent);
    agents_.Hold(agent, key, members[member]);
    Log(LogLevel::kDebug, absl::StrCat("the trial goes to agent ", agent.info.name),
        wire::AboutAttempt(key, agent.info.name));
    Send& send = output_.sends.emplace_back();
    send.connection = agent.connection;
    send.order = AssignOrder{.key = key,
                             .sweep_id = sweep.id(),
                             .beat_step_s = sweep.best_step_s,
                             .reason = reason,
                             .members = members,
                             .member = member};
  }
}

GivenAttempt& EngineCore::Hold(ActiveSweep& sweep, ActiveTrial& trial,
                               const std::vector<db::AttemptMember>& members,
                               const std::string& reason, std::optional<double> gain,
                               std::optional<absl::Time> lease_end) {
  const db::AttemptMember& leader = members.front();
  db::TrialTransition transition = TransitionOf({&sweep, &trial});
  transition.begins = !trial.has_begun;
  transition.to_state = db::TrialState::kAssigned;
  transition.to_attempt = std::max(trial.attempt, options_.first_attempt);
  transition.reason = reason;
  transition.policy_version = kPlacementPolicyVersion;
  transition.agent = leader.agent;
  transition.host = leader.host;
  transition.members = members;
  transition.lease_end = lease_end;
  transition.event_kind = "trial_assigned";
  transition.event_message = reason;
  transition.event_data_json =
      ToJson(
          wire::TrialPlaced{.layout = trial.layout, .agent = leader.agent, .expected_gain = gain})
          .dump();
  trial.attempt = transition.to_attempt;
  output_.ops.emplace_back(std::move(transition));
  if (!trial.has_begun) sweep.Begin(trial);
  GivenAttempt& attempt = trial.given.emplace_back();
  attempt.number = trial.attempt;
  attempt.lease_end = lease_end;
  for (const db::AttemptMember& member : members) attempt.members.push_back({member});
  sweep.SetState(trial, db::TrialState::kAssigned);
  sweep.last_turn = ++turns_;
  SetRunning(sweep);
  return attempt;
}

void EngineCore::On(const MemberReady& event) {
  const Found found = Find(event.key);
  GivenMember* const member = Confirm(event.agent, event.key, found);
  if (member == nullptr) return;
  const bool was_ready = member->ready_port.has_value();
  member->ready_port = event.port;
  const GivenAttempt& attempt = *found.trial->Held();
  const ConnectedAgent* const leader = agents_.Find(attempt.leader());
  const bool all_are =
      std::all_of(attempt.members.begin(), attempt.members.end(),
                  [](const GivenMember& one) { return one.ready_port.has_value(); });
  if (!all_are || leader == nullptr) return;
  const StartOrder start{
      event.key, ToText(WithPort(leader->info.address, *attempt.members.front().ready_port))};
  for (const GivenMember& one : attempt.members) {
    // A member that reports ready again has not heard of the start.
    if (was_ready && &one != member) continue;
    if (const ConnectedAgent* other = agents_.Find(one.part.agent); other != nullptr) {
      output_.sends.push_back({other->connection, start});
    }
  }
}

}  // namespace meshwright::server
