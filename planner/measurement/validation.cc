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

bool CanBePicked(const RowPrediction& row) {
  if (!row.predicted) return false;
  return row.outcome == RunOutcome::kOom || (row.outcome == RunOutcome::kOk && row.mfu);
}

OptionalNumber BestMfu(const Rows& rows) {
  OptionalNumber best;
  for (const RowPrediction* row : rows) {
    if (row->mfu && (!best || *row->mfu > *best)) best = row->mfu;
  }
  return best;
}

// The fastest predicted row that `admits` lets through; the first of equals.
template <typename Admits>
void AddPick(const Rows& rows, Admits admits, OptionalInt& pick, OptionalNumber& regret) {
  const RowPrediction* fastest = nullptr;
  for (const RowPrediction* row : rows) {
    if (!CanBePicked(*row) || !admits(*row->predicted)) continue;
    if (fastest == nullptr ||
        row->predicted->tokens_per_s_per_device > fastest->predicted->tokens_per_s_per_device) {
      fastest = row;
    }
  }
  if (fastest == nullptr) return;
  pick = fastest->row;
  const OptionalNumber best = BestMfu(rows);
  if (!best) return;  // nothing went through: no pick could have done better
  const bool ran_out = fastest->outcome == RunOutcome::kOom;
  regret = (*best - (ran_out ? 0.0 : *fastest->mfu)) * kPoints;
}

SweepReport ReportOn(const std::string& sweep, const Rows& rows) {
  SweepReport report;
  report.sweep = sweep;
  CountRows(rows, report);
  AddMemory(rows, report);
  AddSpeed(rows, report);
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

OptionalNumber Largest(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

ValidationReport ReportValidation(absl::Span<const RowPrediction> rows) {
  Rows all;
  std::vector<Rows> sweeps;
  std::unordered_map<std::string, size_t> place;
  for (const RowPrediction& row : rows) {
    all.push_back(&row);
    const auto [it, added] = place.emplace(row.sweep, sweeps.size());
    if (added) sweeps.emplace_back();
    sweeps[it->second].push_back(&row);
  }
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
