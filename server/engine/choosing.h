// The question which candidates of a sweep become trials next, and its answer. The engine asks;
// something beside it answers, since that takes longer than the engine may.
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

// The candidates of which enough is known to choose among them, by number.
struct ChoiceSet {
  std::vector<planner::TrialCandidate> candidates;
  std::vector<int32_t> numbers;           // of the sweep's candidates, in the same order
  planner::RelatedSweeps related_sweeps;  // of the sweep
};

ChoiceSet ChoiceSetOf(absl::Span<const db::TrialSummary> summaries,
                      planner::RelatedSweeps related_sweeps);

// Returns why this was chosen, and whose results that is based on.
std::string ReasonOf(const planner::TrialChoice& choice, const planner::TrialPolicyOptions& options,
                     const planner::RelatedSweeps& related_sweeps);

// Returns what a trial in this state says of its layout. `step_s`: its median step, where it was
// measured; `step_noise` as in db::MeasuredTrial.
planner::TrialFinding FindingOf(size_t candidate, db::TrialState state,
                                const std::optional<double>& step_s,
                                const std::optional<double>& step_noise);
// Returns what is known of those of a sweep's candidates that are trials. `all`: the candidates by
// number, from 1 without a gap, as the store or the engine has them.
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
  int64_t revision = 0;  // of what the sweep knew
  int32_t most = 1;      // trials: one per idle agent, and one where none is idle
  std::shared_ptr<const ChoiceSet> set;
  std::vector<planner::TrialFinding> findings;
  planner::TrialPolicyOptions options;
};

struct ChosenTrial {
  int32_t number = 0;
  std::string reason;          // with the numbers that decided
  std::optional<double> gain;  // expected, as a share of the best step; nullopt before there is one

  friend bool operator==(const ChosenTrial&, const ChosenTrial&) = default;
};

// The answer; an input of the engine.
struct ChoiceMade {
  int64_t sweep_id = 0;
  int64_t revision = 0;
  std::vector<ChosenTrial> trials;
  // Why no trial follows these; empty where one may.
  std::string stop_reason;
  planner::TrialStop stop = planner::TrialStop::kNone;
};

ChoiceMade Answer(const ChoiceQuestion& question);

}  // namespace meshwright::server
