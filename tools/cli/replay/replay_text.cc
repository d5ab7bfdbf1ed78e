#include "tools/cli/replay/replay_text.h"

#include <string>

#include "absl/strings/str_format.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

std::string Points(const planner::OptionalNumber& points) {
  return points ? absl::StrFormat("%.2f", *points) : "-";
}

std::string Count(const planner::OptionalNumber& count) {
  return count ? absl::StrFormat("%g", *count) : "-";
}

std::string Count(const planner::OptionalInt& count) { return count ? FormatCount(*count) : "-"; }

void PrintTrials(const planner::SweepReplay& sweep, std::ostream& out) {
  for (size_t i = 0; i < sweep.trial_rows.size(); ++i) {
    out << i + 1 << ": row " << sweep.trial_rows[i] << ", " << sweep.reasons[i] << "\n";
  }
  out << "stopped: " << sweep.stop_reason << "\n\n";
}

void PrintTotal(const planner::ReplayTotal& total, std::ostream& out) {
  if (total.sweeps == 0) return;
  out << absl::StrFormat(
      "\n%d of the %d sweeps with at least %d rows end within %g point and %g %% of the best; "
      "worst "
      "%.2f points;\n%.2f trials on average, at most %d, of which at most %d out of memory\n",
      total.found, total.sweeps, planner::kLeastRows, planner::kFoundPoints,
      100.0 * planner::kFoundShare, total.worst_regret_points.value_or(0.0),
      total.mean_trials.value_or(0.0), total.most_trials, total.most_oom_trials);
}

}  // namespace

void PrintReplay(absl::Span<const planner::SweepReplay> sweeps, bool with_relatives,
                 std::ostream& out) {
  Table table({"sweep", "batch", "rows", "ok", "best MFU", "trials", "out of memory", "failed",
               "regret", "to 1 point", "predicted order", "random order", "TPE"});
  int64_t without = 0;
  for (const planner::SweepReplay& sweep : sweeps) {
    if (sweep.candidates == 0) {
      ++without;
      continue;
    }
    if (sweeps.size() == 1) PrintTrials(sweep, out);
    table.Add({sweep.sweep.empty() ? "(no name)" : sweep.sweep, Count(sweep.global_batch),
               FormatCount(sweep.rows), FormatCount(sweep.ok),
               sweep.best_mfu ? FormatPercent(*sweep.best_mfu) : "-", FormatCount(sweep.trials),
               FormatCount(sweep.oom_trials), FormatCount(sweep.error_trials),
               Points(sweep.found_regret_points), Count(sweep.trials_to_within_1_point),
               Count(sweep.predicted_order.trials_to_within_1_point),
               Count(sweep.random_order.trials_to_within_1_point),
               Count(sweep.tpe_order.trials_to_within_1_point)});
  }
  table.Print(out);
  out << "regret: best measured MFU less that of the best trial, in points; the last four: trials "
         "until within 1 point of it (TPE only with --tpe)\n";
  if (without > 0) {
    out << without << (without == 1 ? " sweep has" : " sweeps have")
        << " no row that the planner can model\n";
  }
  if (with_relatives) {
    out << "each sweep began with what trials of related sweeps in these files had found\n";
  }
  PrintTotal(planner::TotalOf(sweeps), out);
}

}  // namespace meshwright::cli
