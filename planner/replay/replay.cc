#include "planner/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "planner/measurement/measured_options.h"
#include "planner/measurement/metrics.h"

namespace meshwright::planner {
namespace {

constexpr uint64_t kRandomOrders = 200;

using Rows = std::vector<const RowPrediction*>;

// A sweep's rows, and the rows among them that can be replayed.
struct Problem {
  Rows rows;
  Rows candidates;
  OptionalNumber best_mfu;

  // Returns the percentage points of MFU below the best.
  double RegretOf(double mfu) const { return 100.0 * (*best_mfu - mfu); }
};

bool CanRun(const RowPrediction& row) {
  if (!row.predicted || row.outcome == RunOutcome::kUnknown) return false;
  return row.outcome != RunOutcome::kOk || (row.step_s && row.mfu);
}

Problem ProblemOf(Rows rows) {
  Problem problem;
  problem.rows = std::move(rows);
  for (const RowPrediction* row : problem.rows) {
    if (CanRun(*row)) problem.candidates.push_back(row);
    if (row->outcome != RunOutcome::kOk || !row->mfu) continue;
    problem.best_mfu = std::max(problem.best_mfu.value_or(0.0), *row->mfu);
  }
  return problem;
}

// The state of running rows one after another.
class Run {
 public:
  explicit Run(const Problem& problem) : problem_(problem) {}

  void Add(const RowPrediction& row) {
    ++trials_;
    if (row.outcome == RunOutcome::kOom) ++oom_;
    if (row.outcome == RunOutcome::kError) ++error_;
    if (row.outcome != RunOutcome::kOk) return;
    found_mfu_ = std::max(found_mfu_.value_or(0.0), *row.mfu);
    if (!to_found_ && problem_.RegretOf(*found_mfu_) <= kFoundPoints) {
      to_found_ = trials_;
      oom_to_found_ = oom_;
    }
  }

  int64_t trials() const { return trials_; }
  int64_t oom() const { return oom_; }
  int64_t error() const { return error_; }
  OptionalNumber found_mfu() const { return found_mfu_; }
  OptionalInt to_found() const { return to_found_; }
  int64_t oom_to_found() const { return oom_to_found_; }

 private:
  const Problem& problem_;
  int64_t trials_ = 0;
  int64_t oom_ = 0;
  int64_t error_ = 0;
  OptionalNumber found_mfu_;
  OptionalInt to_found_;
  int64_t oom_to_found_ = 0;
};

Run RunOrder(const Problem& problem, const Rows& order) {
  Run run(problem);
  for (const RowPrediction* row : order) {
    run.Add(*row);
    if (run.to_found()) break;
  }
  return run;
}

OrderReplay PredictedOrder(const Problem& problem, double most_oom_probability) {
  Rows order = problem.candidates;
  std::stable_sort(order.begin(), order.end(), [&](const RowPrediction* a, const RowPrediction* b) {
    const auto key = [&](const RowPrediction& row) {
      return std::pair(row.predicted->oom_probability >= most_oom_probability,
                       row.predicted->step_s);
    };
    return key(*a) < key(*b);
  });
  const Run run = RunOrder(problem, order);
  OrderReplay replay;
  if (!run.to_found()) return replay;
  replay.trials_to_within_1_point = static_cast<double>(*run.to_found());
  replay.oom_trials = static_cast<double>(run.oom_to_found());
  return replay;
}

OrderReplay RandomOrder(const Problem& problem) {
  std::vector<double> trials;
  std::vector<double> oom;
  for (uint64_t seed = 0; seed < kRandomOrders; ++seed) {
    std::mt19937_64 random(seed);
    Rows order = problem.candidates;
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    const Run run = RunOrder(problem, order);
    if (!run.to_found()) return {};
    trials.push_back(static_cast<double>(*run.to_found()));
    oom.push_back(static_cast<double>(run.oom_to_found()));
  }
  return {.trials_to_within_1_point = Median(trials), .oom_trials = Median(oom)};
}

TrialFinding FindingOf(size_t candidate, const RowPrediction& row) {
  switch (row.outcome) {
    case RunOutcome::kOk:
      return {.candidate = candidate, .end = TrialEnd::kMeasured, .step_s = *row.step_s};
    case RunOutcome::kOom:
      return {.candidate = candidate, .end = TrialEnd::kOutOfMemory};
    case RunOutcome::kError:
    case RunOutcome::kUnknown:
      break;
  }
  return {.candidate = candidate, .end = TrialEnd::kFailed};
}

void RunOne(const Problem& problem, const RunSweep& run_sweep, const RelatedSweeps& relatives,
            SweepReplay& replay) {
  std::vector<ReplayCandidate> candidates;
  for (const RowPrediction* row : problem.candidates) {
    candidates.push_back({.layout = *row->layout,
                          .step_s = row->predicted->step_s,
                          .oom_probability = row->predicted->oom_probability});
  }
  Run run(problem);
  ChosenTrials chosen = run_sweep(
      candidates,
      [&](size_t candidate) {
        const RowPrediction& row = *problem.candidates[candidate];
        run.Add(row);
        return FindingOf(candidate, row);
      },
      relatives);
  for (const size_t candidate : chosen.candidates) {
    replay.trial_rows.push_back(problem.candidates[candidate]->row);
  }
  replay.reasons = std::move(chosen.reasons);
  replay.stop = chosen.stop;
  replay.stop_reason = std::move(chosen.stop_reason);
  replay.trials = run.trials();
  replay.oom_trials = run.oom();
  replay.error_trials = run.error();
  replay.found_mfu = run.found_mfu();
  replay.trials_to_within_1_point = run.to_found();
  if (problem.best_mfu) {
    replay.found_regret_points = problem.RegretOf(run.found_mfu().value_or(0.0));
  }
}

SweepReplay ReplayOf(const Problem& problem, const RunSweep& run, const RelatedSweeps& relatives) {
  SweepReplay replay;
  replay.sweep = problem.rows.front()->sweep;
  replay.rows = static_cast<int64_t>(problem.rows.size());
  replay.candidates = static_cast<int64_t>(problem.candidates.size());
  replay.ok =
      std::count_if(problem.candidates.begin(), problem.candidates.end(),
                    [](const RowPrediction* row) { return row->outcome == RunOutcome::kOk; });
  replay.best_mfu = problem.best_mfu;
  for (const RelatedSweep& sweep : relatives.sweeps) replay.related_sweeps.push_back(sweep.name);
  replay.related_results = relatives.results();
  RunOne(problem, run, relatives, replay);
  replay.predicted_order = PredictedOrder(problem, TrialPolicyOptions().most_oom_probability);
  replay.random_order = RandomOrder(problem);
  for (const RowPrediction* row : problem.candidates) {
    const bool ran = row->outcome == RunOutcome::kOk;
    replay.problem.layouts.push_back(FormatLayout(*row->layout));
    replay.problem.step_s.push_back(ran ? row->step_s : std::nullopt);
    replay.problem.good.push_back(ran && problem.RegretOf(*row->mfu) <= kFoundPoints);
  }
  return replay;
}

SweepTraits TraitsOf(const Measurement& row) {
  const auto size = [](const OptionalInt& value) { return value.value_or(1); };
  SweepTraits traits;
  traits.hidden = size(row.hidden);
  traits.layers = size(row.layers);
  traits.seq_len = size(row.seq);
  traits.global_batch = size(row.gbs);
  traits.devices = size(row.gpus);
  traits.device = row.gpu;
  // Measurements of one source were made on the same machine.
  traits.cluster = row.source;
  traits.framework = row.framework;
  traits.precision = row.precision;
  TrainingSpec training;
  // A row whose options can't be read was refused.
  if (ReadMeasuredOptions(row, training).ok()) traits.options = ChangedOptions(training);
  return traits;
}

// The rows of one sweep and one global batch.
struct Group {
  const Measurement* first = nullptr;
  Rows rows;
};

std::vector<Group> GroupsOf(absl::Span<const Measurement> measured,
                            absl::Span<const RowPrediction> rows) {
  std::map<std::pair<std::string, OptionalInt>, size_t> places;
  std::vector<Group> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [place, is_new] =
        places.try_emplace({rows[i].sweep, measured[i].gbs}, groups.size());
    if (is_new) groups.push_back({.first = &measured[i], .rows = {}});
    groups[place->second].rows.push_back(&rows[i]);
  }
  return groups;
}

// Returns what the trials of a replay measured.
RelatedSweep FoundBy(const SweepReplay& replay, const Group& group) {
  RelatedSweep found{.name = replay.sweep, .traits = TraitsOf(*group.first), .results = {}};
  for (const RowPrediction* row : group.rows) {
    const auto& trials = replay.trial_rows;
    const bool ran = std::count(trials.begin(), trials.end(), row->row) > 0;
    if (!ran || row->outcome != RunOutcome::kOk) continue;
    found.results.push_back({.point = PointOf(*row->layout),
                             .residual = std::log(*row->step_s / row->predicted->step_s),
                             .step_s = *row->step_s});
  }
  return found;
}

}  // namespace

std::vector<SweepReplay> ReplaySweeps(absl::Span<const Measurement> measured,
                                      absl::Span<const RowPrediction> rows, const RunSweep& run,
                                      bool with_relatives) {
  const std::vector<Group> groups = GroupsOf(measured, rows);
  std::vector<SweepReplay> replays;
  for (const Group& group : groups) {
    replays.push_back(ReplayOf(ProblemOf(group.rows), run, {}));
    replays.back().global_batch = group.first->gbs;
  }
  if (!with_relatives) return replays;
  std::vector<RelatedSweep> found;
  for (size_t i = 0; i < groups.size(); ++i) found.push_back(FoundBy(replays[i], groups[i]));
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<RelatedSweep> others = found;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const RelatedSweeps relatives = NearestRelatedSweeps(found[i].traits, std::move(others));
    replays[i] = ReplayOf(ProblemOf(groups[i].rows), run, relatives);
    replays[i].global_batch = groups[i].first->gbs;
  }
  return replays;
}

ReplayTotal TotalOf(absl::Span<const SweepReplay> sweeps) {
  ReplayTotal total;
  int64_t trials = 0;
  for (const SweepReplay& sweep : sweeps) {
    if (sweep.rows < kLeastRows || !sweep.best_mfu) continue;
    ++total.sweeps;
    const double regret = *sweep.found_regret_points;
    if (regret <= kFoundPoints && regret <= 100.0 * kFoundShare * *sweep.best_mfu) ++total.found;
    total.worst_regret_points = std::max(total.worst_regret_points.value_or(0.0), regret);
    trials += sweep.trials;
    total.most_trials = std::max(total.most_trials, sweep.trials);
    total.most_oom_trials = std::max(total.most_oom_trials, sweep.oom_trials);
  }
  if (total.sweeps > 0) {
    total.mean_trials = static_cast<double>(trials) / static_cast<double>(total.sweeps);
  }
  return total;
}

}  // namespace meshwright::planner
