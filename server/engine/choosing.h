// ChoiceQuestion asks which candidates of a sweep become trials next, and ChoiceMade is the answer.
// The engine only asks, since answering takes longer than the engine may wait.
//
// Callers may rely on: the same question has the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "db/records.h"
#include "planner/policy/trial_policy.h"

namespace meshwright::server {

// The candidates about which enough is known to choose among them, ordered by number.
struct ChoiceSet {
  std::vector<planner::TrialCandidate> candidates;
  std::vector<int32_t> numbers;           // the candidates' numbers, in the same order
  planner::RelatedSweeps related_sweeps;  // the sweeps related to this one
};

ChoiceSet ChoiceSetOf(absl::Span<const db::TrialSummary> summaries,
                      planner::RelatedSweeps related_sweeps);

// Returns a text that says why the trial was chosen and on which related sweeps' results the choice
// is based.
std::string ReasonOf(const planner::TrialChoice& choice, const planner::TrialPolicyOptions& options,
                     const planner::RelatedSweeps& related_sweeps);

// Returns the finding about a layout that follows from the state of its trial. `candidate` is the
// index of the layout in ChoiceSet::candidates. `step_s` is the median step, if it was measured;
// `step_noise` is as in db::MeasuredTrial.
planner::TrialFinding FindingOf(size_t candidate, db::TrialState state,
                                const std::optional<double>& step_s,
                                const std::optional<double>& step_noise);
// Returns what is known about those candidates of a sweep that are trials. `Candidate` is
// db::TrialSummary or ActiveTrial. REQUIRES: `all` has all candidates of the sweep by number, from
// 1 without a gap.
template <typename Candidate>
std::vector<planner::TrialFinding> FindingsOf(const ChoiceSet& set,
                                              const std::vector<Candidate>& all) {
  std::vector<planner::TrialFinding> findings;
  for (size_t i = 0; i < set.numbers.size(); ++i) {
    const Candidate& one = all[static_cast<size_t>(set.numbers[i] - 1)];
    if (one.has_begun) findings.push_back(FindingOf(i, one.state, one.step_s, one.step_noise));
  }
  return findings;
}

// Returns the options by which the sweep chooses.
planner::TrialPolicyOptions PolicyOf(const db::SweepRecord& sweep);

struct ChoiceQuestion {
  int64_t sweep_id = 0;
  int64_t revision = 0;  // of the sweep's knowledge when it asked
  int32_t most = 1;      // most trials to choose: as many as idle agents could run, at least one
  std::shared_ptr<const ChoiceSet> set;
  std::vector<planner::TrialFinding> findings;
  planner::TrialPolicyOptions options;
};

struct ChosenTrial {
  int32_t number = 0;
  std::string reason;  // why it was chosen, with the numbers that decided
  // Expected reduction of the step time, as a share of the best step time so far; nullopt before
  // any trial was measured.
  std::optional<double> gain;

  friend bool operator==(const ChosenTrial&, const ChosenTrial&) = default;
};

// The answer to a ChoiceQuestion. It is an input of the engine.
struct ChoiceMade {
  int64_t sweep_id = 0;
  int64_t revision = 0;
  std::vector<ChosenTrial> trials;
  // Says why no trial follows `trials`; empty if a trial may follow.
  std::string stop_reason;
  planner::TrialStop stop = planner::TrialStop::kNone;
};

ChoiceMade Answer(const ChoiceQuestion& question);

}  // namespace meshwright::server
