#include "tools/cli/validate/validate_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "tools/cli/common/refusals_text.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

constexpr size_t kShownSweeps = 30;

using Sweeps = std::vector<const planner::SweepReport*>;

std::string PercentText(const planner::OptionalNumber& fraction) {
  return fraction ? FormatPercent(*fraction) : "-";
}

std::string Fixed(const planner::OptionalNumber& value, int digits) {
  return value ? absl::StrFormat("%.*f", digits, *value) : "-";
}

std::string Row(const planner::OptionalInt& row) { return row ? FormatCount(*row) : "-"; }

std::string SweepName(const planner::SweepReport& report) {
  return report.sweep.empty() ? "(no name)" : report.sweep;
}

// Returns the largest sweeps with modelled rows, in their order of appearance.
Sweeps ShownSweeps(const planner::ValidationReport& report) {
  Sweeps shown;
  for (const planner::SweepReport& sweep : report.sweeps) {
    if (sweep.modelled > 0) shown.push_back(&sweep);
  }
  if (shown.size() <= kShownSweeps) return shown;
  std::stable_sort(shown.begin(), shown.end(),
                   [](const planner::SweepReport* a, const planner::SweepReport* b) {
                     return a->modelled > b->modelled;
                   });
  shown.resize(kShownSweeps);
  // Pointers into one vector, so that their order is the order of appearance.
  std::sort(shown.begin(), shown.end());
  return shown;
}

void PrintSummary(const planner::ValidationReport& report, const planner::Refusals& refusals,
                  std::ostream& out) {
  const planner::SweepReport& total = report.total;
  out << FormatCount(total.rows) << (total.rows == 1 ? " measurement" : " measurements") << " in "
      << FormatCount(static_cast<int64_t>(report.sweeps.size()))
      << (report.sweeps.size() == 1 ? " sweep: " : " sweeps: ") << FormatCount(total.ok) << " ok, "
      << FormatCount(total.oom) << " out of memory, " << FormatCount(total.error)
      << " failed otherwise; " << FormatCount(total.modelled) << " modelled";
  if (!refusals.unreadable.empty()) {
    out << ", " << FormatCount(static_cast<int64_t>(refusals.unreadable.size())) << " unreadable";
  }
  out << "\n";
}

void PrintMemory(const Sweeps& sweeps, const planner::SweepReport& total, std::ostream& out) {
  out << "\nMemory. Below 80 % of the device a run is expected to fit: runs that ran out and were "
         "caught or missed,\nruns that fit and were kept or rejected; accuracy and AUC of the "
         "probability of running out; median error of the peak:\n";
  Table table({"sweep", "rows", "modelled", "ok", "oom", "caught", "missed", "kept", "rejected",
               "accuracy", "AUC", "peak error"});
  const auto add = [&table](const planner::SweepReport& r) {
    table.Add({SweepName(r), FormatCount(r.rows), FormatCount(r.modelled), FormatCount(r.ok),
               FormatCount(r.oom), FormatCount(r.oom_caught), FormatCount(r.oom_missed),
               FormatCount(r.ok_kept), FormatCount(r.ok_rejected), PercentText(r.oom_accuracy),
               Fixed(r.oom_auc, 3), PercentText(r.memory_median_error)});
  };
  for (const planner::SweepReport* sweep : sweeps) add(*sweep);
  add(total);
  table.Print(out);
}

bool HasSpeed(const planner::SweepReport& r) {
  return r.mfu_mae_points || r.step_time_mape || r.regret_safe_points || r.regret_likely_points;
}

void PrintSpeed(const Sweeps& sweeps, const planner::ValidationReport& report, std::ostream& out) {
  const planner::SweepReport& total = report.total;
  if (!HasSpeed(total)) return;
  out << "\nSpeed. Mean errors of MFU (points) and step time, rank correlation of throughput, "
         "share "
         "of step times inside\nthe predicted interval; MFU points lost by picking the fastest "
         "predicted layout below 80 % of the device (safe)\nor with a probability of running out "
         "of memory below 0.5 (likely), and the row of that pick:\n";
  Table table(
      {"sweep", "MFU error", "step error", "Spearman", "inside", "safe", "row", "likely", "row"});
  const auto add = [&table](const planner::SweepReport& r) {
    table.Add({SweepName(r), Fixed(r.mfu_mae_points, 2), PercentText(r.step_time_mape),
               Fixed(r.spearman, 3), PercentText(r.inside_interval), Fixed(r.regret_safe_points, 2),
               Row(r.pick_safe), Fixed(r.regret_likely_points, 2), Row(r.pick_likely)});
  };
  for (const planner::SweepReport* sweep : sweeps) {
    if (HasSpeed(*sweep)) add(*sweep);
  }
  add(total);
  table.Print(out);
  out << "total: Spearman is the mean over sweeps of at least 15 rows (all rows in one ranking: "
      << Fixed(report.spearman_pooled, 3) << "),\nregrets are means over sweeps of at least 2 rows "
      << "(largest: safe " << Fixed(report.regret_safe_points_max, 2) << ", likely "
      << Fixed(report.regret_likely_points_max, 2) << ")\n";
  if (total.choices == 0) return;
  out << "choices between at least 6 layouts of one sweep, model, batch and number of devices: "
      << FormatCount(total.choices) << "; the likely pick's step per token is "
      << PercentText(total.regret_likely_share)
      << " above the best\nmeasured one (largest: " << PercentText(total.regret_likely_share_max)
      << "), without the " << FormatCount(total.likely_out_of_memory)
      << " picks that ran out of memory\n";
}

void PrintLeftOut(const planner::ValidationReport& report, size_t shown, std::ostream& out) {
  const auto modelled = static_cast<size_t>(
      std::count_if(report.sweeps.begin(), report.sweeps.end(),
                    [](const planner::SweepReport& sweep) { return sweep.modelled > 0; }));
  if (modelled > shown) {
    out << "\n"
        << modelled - shown << " smaller sweeps are not shown; --format json has them all\n";
  }
}

}  // namespace

void PrintValidation(const planner::ValidationReport& report, const planner::Refusals& refusals,
                     std::ostream& out) {
  PrintSummary(report, refusals, out);
  const Sweeps shown = ShownSweeps(report);
  if (!shown.empty()) {
    PrintMemory(shown, report.total, out);
    PrintSpeed(shown, report, out);
    PrintLeftOut(report, shown.size(), out);
  }
  PrintRefusals(refusals, "--rows FILE has the reason of each row", out);
}

}  // namespace meshwright::cli
