#include "planner/measurement/validation.h"

#include <algorithm>
#include <unordered_map>

#include "planner/measurement/metrics.h"

namespace meshwright::planner {
namespace {

constexpr double kPoints = 100.0;
constexpr size_t kRankedRows = 15;     // fewer give a rank correlation that is mostly chance
constexpr int64_t kChoosableRows = 2;  // one row is no choice

using Rows = std::vector<const RowPrediction*>;

bool IsSafe(const Prediction& p) { return p.fraction_of_device < kSafeFraction; }
bool IsLikely(const Prediction& p) { return p.oom_probability < kLikelyProbability; }

// Pairs of a predicted and a measured figure over the rows that have both.
template <typename Predicted, typename Measured>
std::vector<PredictedMeasured> Pairs(const Rows& rows, Predicted Prediction::*predicted,
                                     std::optional<Measured> RowPrediction::*measured) {
  std::vector<PredictedMeasured> pairs;
  for (const RowPrediction* row : rows) {
    if (!row->predicted || !(row->*measured) || row->given) continue;
    pairs.push_back({static_cast<double>((*row->predicted).*predicted), *(row->*measured)});
  }
  return pairs;
}

std::vector<PredictedMeasured> SpeedPairs(const Rows& rows) {
  return Pairs(rows, &Prediction::tokens_per_s_per_device, &RowPrediction::tokens_per_s_per_device);
}

void CountRows(const Rows& rows, SweepReport& report) {
  report.rows = static_cast<int64_t>(rows.size());
  for (const RowPrediction* row : rows) {
    report.ok += row->outcome == RunOutcome::kOk ? 1 : 0;
    report.oom += row->outcome == RunOutcome::kOom ? 1 : 0;
    report.error += row->outcome == RunOutcome::kError ? 1 : 0;
    if (!row->predicted) continue;
    ++report.modelled;
    const bool safe = IsSafe(*row->predicted);
    if (row->outcome == RunOutcome::kOom) ++(safe ? report.oom_missed : report.oom_caught);
    if (row->outcome == RunOutcome::kOk) ++(safe ? report.ok_kept : report.ok_rejected);
  }
}

void AddMemory(const Rows& rows, SweepReport& report) {
  std::vector<Forecast> forecasts;
  for (const RowPrediction* row : rows) {
    const bool finished = row->outcome == RunOutcome::kOk || row->outcome == RunOutcome::kOom;
    if (!finished || !row->predicted || row->given) continue;
    forecasts.push_back({row->predicted->oom_probability, row->outcome == RunOutcome::kOom});
  }
  report.oom_accuracy = Accuracy(forecasts);
  report.oom_auc = AreaUnderCurve(forecasts);
  report.memory_median_error =
      Median(RelativeErrors(Pairs(rows, &Prediction::peak_bytes, &RowPrediction::peak_bytes)));
}

OptionalNumber InsideInterval(const Rows& rows) {
  std::vector<double> inside;
  for (const RowPrediction* row : rows) {
    if (!row->predicted || !row->step_s || row->given) continue;
    const bool within =
        *row->step_s >= row->predicted->step_low_s && *row->step_s <= row->predicted->step_high_s;
    inside.push_back(within ? 1.0 : 0.0);
  }
  return Mean(inside);
}

void AddSpeed(const Rows& rows, SweepReport& report) {
  report.mfu_mae_points = Mean(AbsoluteErrors(Pairs(rows, &Prediction::mfu, &RowPrediction::mfu)));
  if (report.mfu_mae_points) *report.mfu_mae_points *= kPoints;
  report.step_time_mape =
      Mean(RelativeErrors(Pairs(rows, &Prediction::step_s, &RowPrediction::step_s)));
  report.spearman = Spearman(SpeedPairs(rows));
  report.inside_interval = InsideInterval(rows);
}

OptionalNumber Largest(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return *std::max_element(values.begin(), values.end());
}

bool CanBePicked(const RowPrediction& row) {
  if (!row.predicted) return false;
  return row.outcome == RunOutcome::kOom || (row.outcome == RunOutcome::kOk && row.mfu);
}

// Returns the fastest predicted row that `admits` lets through, the first of equals; nullptr if
// there is none.
template <typename Admits>
const RowPrediction* FastestPredicted(const Rows& rows, Admits admits) {
  const RowPrediction* fastest = nullptr;
  for (const RowPrediction* row : rows) {
    if (!CanBePicked(*row) || !admits(*row->predicted)) continue;
    if (fastest == nullptr ||
        row->predicted->tokens_per_s_per_device > fastest->predicted->tokens_per_s_per_device) {
      fastest = row;
    }
  }
  return fastest;
}

OptionalNumber BestMfu(const Rows& rows) {
  OptionalNumber best;
  for (const RowPrediction* row : rows) {
    if (row->mfu && (!best || *row->mfu > *best)) best = row->mfu;
  }
  return best;
}

// Picks the fastest predicted row that `admits` lets through.
template <typename Admits>
void AddPick(const Rows& rows, Admits admits, OptionalInt& pick, OptionalNumber& regret) {
  const RowPrediction* fastest = FastestPredicted(rows, admits);
  if (fastest == nullptr) return;
  pick = fastest->row;
  const OptionalNumber best = BestMfu(rows);
  if (!best) return;  // nothing went through: no pick could have done better
  const bool ran_out = fastest->outcome == RunOutcome::kOom;
  regret = (*best - (ran_out ? 0.0 : *fastest->mfu)) * kPoints;
}

// Returns the rows by a text of each, in the order of the texts' first rows.
std::vector<Rows> GroupsBy(const Rows& rows, std::string RowPrediction::*text) {
  std::vector<Rows> groups;
  std::unordered_map<std::string, size_t> place;
  for (const RowPrediction* row : rows) {
    const auto [it, added] = place.emplace(row->*text, groups.size());
    if (added) groups.emplace_back();
    groups[it->second].push_back(row);
  }
  return groups;
}

bool IsAChoice(const Rows& rows) {
  std::vector<Layout> layouts;
  for (const RowPrediction* row : rows) {
    if (!CanBePicked(*row) || !row->layout) continue;
    if (std::find(layouts.begin(), layouts.end(), *row->layout) == layouts.end()) {
      layouts.push_back(*row->layout);
    }
  }
  return layouts.size() >= kLayoutsOfAChoice;
}

// Returns the step per token of a row relative to the shortest of the rows, less 1. Where a source
// states the MFU of a row alone, MFUs stand for the steps.
OptionalNumber LostShare(const Rows& rows, const RowPrediction& pick) {
  const bool timed = std::all_of(rows.begin(), rows.end(), [](const RowPrediction* row) {
    return !row->mfu || row->tokens_per_s_per_device;
  });
  const auto speed = timed ? &RowPrediction::tokens_per_s_per_device : &RowPrediction::mfu;
  OptionalNumber best;
  for (const RowPrediction* row : rows) {
    if (row->*speed && (!best || *(row->*speed) > *best)) best = row->*speed;
  }
  if (!best || !(pick.*speed)) return std::nullopt;
  return *best / *(pick.*speed) - 1.0;
}

// The picks of all choices among the rows.
void AddChoices(const Rows& rows, SweepReport& report) {
  std::vector<double> shares;
  for (const Rows& choice : GroupsBy(rows, &RowPrediction::choice)) {
    if (choice.front()->choice.empty() || !IsAChoice(choice)) continue;
    const RowPrediction* pick = FastestPredicted(choice, IsLikely);
    if (pick == nullptr) continue;
    ++report.choices;
    if (pick->outcome == RunOutcome::kOom) {
      ++report.likely_out_of_memory;
      continue;
    }
    if (const OptionalNumber share = LostShare(choice, *pick)) shares.push_back(*share);
  }
  report.regret_likely_share = Mean(shares);
  report.regret_likely_share_max = Largest(shares);
}

SweepReport ReportOn(const std::string& sweep, const Rows& rows) {
  SweepReport report;
  report.sweep = sweep;
  CountRows(rows, report);
  AddMemory(rows, report);
  AddSpeed(rows, report);
  AddChoices(rows, report);
  return report;
}

void AddPicks(const Rows& rows, SweepReport& report) {
  AddPick(rows, IsSafe, report.pick_safe, report.regret_safe_points);
  AddPick(rows, IsLikely, report.pick_likely, report.regret_likely_points);
}

// Figures of each sweep that go into the total.
struct SweepFigures {
  std::vector<double> spearman;
  std::vector<double> safe;
  std::vector<double> likely;

  void Add(const Rows& rows, const SweepReport& report) {
    if (SpeedPairs(rows).size() >= kRankedRows && report.spearman) {
      spearman.push_back(*report.spearman);
    }
    const auto choosable = std::count_if(
        rows.begin(), rows.end(), [](const RowPrediction* row) { return CanBePicked(*row); });
    if (choosable < kChoosableRows) return;
    if (report.regret_safe_points) safe.push_back(*report.regret_safe_points);
    if (report.regret_likely_points) likely.push_back(*report.regret_likely_points);
  }
};

}  // namespace

ValidationReport ReportValidation(absl::Span<const RowPrediction> rows) {
  Rows all;
  for (const RowPrediction& row : rows) all.push_back(&row);
  const std::vector<Rows> sweeps = GroupsBy(all, &RowPrediction::sweep);
  ValidationReport report;
  SweepFigures figures;
  for (const Rows& sweep : sweeps) {
    SweepReport& of_sweep = report.sweeps.emplace_back(ReportOn(sweep.front()->sweep, sweep));
    AddPicks(sweep, of_sweep);
    figures.Add(sweep, of_sweep);
  }
  report.total = ReportOn("total", all);
  report.spearman_pooled = report.total.spearman;
  report.total.spearman = Mean(figures.spearman);
  report.total.regret_safe_points = Mean(figures.safe);
  report.total.regret_likely_points = Mean(figures.likely);
  report.regret_safe_points_max = Largest(figures.safe);
  report.regret_likely_points_max = Largest(figures.likely);
  return report;
}

}  // namespace meshwright::planner
