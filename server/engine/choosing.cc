#include "server/engine/choosing.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "planner/layout/layout.h"

namespace meshwright::server {

ChoiceSet ChoiceSetOf(absl::Span<const db::TrialSummary> summaries,
                      planner::RelatedSweeps related_sweeps) {
  ChoiceSet set;
  set.related_sweeps = std::move(related_sweeps);
  for (const db::TrialSummary& summary : summaries) {
    if (!summary.predicted_step_s || !summary.oom_probability || *summary.predicted_step_s <= 0.0) {
      continue;
    }
    const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(summary.layout);
    if (!layout.ok()) continue;
    set.candidates.push_back({.point = planner::PointOf(*layout),
                              .step_s = *summary.predicted_step_s,
                              .oom_probability = *summary.oom_probability});
    set.numbers.push_back(summary.number);
  }
  return set;
}

std::string ReasonOf(const planner::TrialChoice& choice, const planner::TrialPolicyOptions& options,
                     const planner::RelatedSweeps& related_sweeps) {
  std::string reason = planner::ReasonOf(choice, options);
  if (!choice.next || related_sweeps.sweeps.empty()) return reason;
  absl::StrAppend(&reason, "; estimates are corrected by ", planner::Describe(related_sweeps));
  return reason;
}

planner::TrialFinding FindingOf(size_t candidate, db::TrialState state,
                                const std::optional<double>& step_s,
                                const std::optional<double>& step_noise) {
  planner::TrialFinding finding{.candidate = candidate, .end = planner::TrialEnd::kFailed};
  if (!db::HasEnded(state)) {
    finding.end = planner::TrialEnd::kRunning;
  } else if (state == db::TrialState::kOom) {
    finding.end = planner::TrialEnd::kOutOfMemory;
  } else if (state == db::TrialState::kOk && step_s.value_or(0.0) > 0.0) {
    finding.end = planner::TrialEnd::kMeasured;
    finding.step_s = *step_s;
    finding.noise = step_noise.value_or(0.0);
  }
  return finding;
}

planner::TrialPolicyOptions PolicyOf(const db::SweepRecord& sweep) {
  planner::TrialPolicyOptions options;
  options.min_gain = sweep.min_gain;
  options.max_trials = sweep.max_trials;
  return options;
}

ChoiceMade Answer(const ChoiceQuestion& question) {
  ChoiceMade made;
  made.sweep_id = question.sweep_id;
  made.revision = question.revision;
  for (const planner::TrialChoice& choice :
       planner::ChooseTrials(question.set->candidates, question.findings, question.options,
                             question.most, question.set->related_sweeps)) {
    std::string reason = ReasonOf(choice, question.options, question.set->related_sweeps);
    if (choice.next) {
      made.trials.push_back({question.set->numbers[*choice.next], std::move(reason), choice.gain});
    } else {
      made.stop_reason = std::move(reason);
      made.stop = choice.stop;
    }
  }
  return made;
}

}  // namespace meshwright::server
