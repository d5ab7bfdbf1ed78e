#include "server/sweeps/sweep_plan.h"

#include <utility>

#include "planner/policy/trial_policy.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/engine/choosing.h"

namespace meshwright::server {
namespace {

v1::Candidate CandidateOf(const db::TrialSummary& head, const planner::TrialCandidate& predicted,
                          const planner::TrialBelief& belief) {
  v1::Candidate candidate;
  candidate.set_number(head.number);
  candidate.set_layout(head.layout);
  // Both enumerations list the same states in the same order; the wire's starts with "unspecified".
  if (head.has_begun) {
    candidate.set_state(static_cast<v1::TrialState>(static_cast<int>(head.state) + 1));
  }
  candidate.set_predicted_step_s(predicted.step_s);
  candidate.set_predicted_oom_probability(predicted.oom_probability);
  candidate.set_step_s(belief.step_s);
  candidate.set_spread(belief.spread);
  candidate.set_oom_probability(belief.oom_probability);
  candidate.set_expected_gain(belief.gain);
  return candidate;
}

}  // namespace

v1::SweepPlan SweepPlanOf(const db::SweepRecord& sweep, const std::vector<db::TrialSummary>& heads,
                          planner::RelatedSweeps relatives, int32_t most) {
  v1::SweepPlan plan;
  const ChoiceSet set = ChoiceSetOf(heads, std::move(relatives));
  for (const planner::RelatedSweep& relative : set.relatives.sweeps) {
    plan.add_related_sweeps(FormatSweepName(relative.name));
  }
  plan.set_related_results(set.relatives.results());
  const std::vector<planner::TrialFinding> findings = FindingsOf(set, heads);
  const planner::TrialPolicyOptions options = PolicyOf(sweep);
  const std::vector<planner::TrialChoice> choices =
      planner::ChooseTrials(set.candidates, findings, options, most, set.relatives);
  const bool has_ended = db::HasEnded(sweep.state);
  if (has_ended) plan.set_stop_reason(sweep.reason);
  for (const planner::TrialChoice& choice : choices) {
    if (has_ended) break;
    if (!choice.next) {
      plan.set_stop_reason(planner::ReasonOf(choice, options));
      break;
    }
    v1::NextTrial& next = *plan.add_trials();
    next.set_number(set.numbers[*choice.next]);
    next.set_layout(heads[static_cast<size_t>(next.number() - 1)].layout);
    next.set_reason(ReasonOf(choice, options, set.relatives));
    if (choice.gain) next.set_expected_gain(*choice.gain);
  }
  // The beliefs before any of the next trials runs.
  for (size_t i = 0; i < set.candidates.size(); ++i) {
    const db::TrialSummary& head = heads[static_cast<size_t>(set.numbers[i] - 1)];
    *plan.add_candidates() = CandidateOf(head, set.candidates[i], choices.front().beliefs[i]);
  }
  for (const planner::TrialFinding& finding : findings) {
    if (finding.end != planner::TrialEnd::kMeasured) continue;
    const bool is_best = !plan.has_best_step_s() || finding.step_s < plan.best_step_s();
    if (is_best) plan.set_best_step_s(finding.step_s);
  }
  return plan;
}

}  // namespace meshwright::server
