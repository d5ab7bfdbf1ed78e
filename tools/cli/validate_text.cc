#include "tools/cli/validate_text.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "tools/cli/table.h"
#include "tools/cli/text.h"

namespace meshwright {
namespace {

constexpr size_t kShownSweeps = 30;
constexpr size_t kShownValues = 3;  // of one cause of refusal

using Sweeps = std::vector<const SweepReport*>;

std::string Percent(const OptionalNumber& fraction) {
  return fraction ? FormatPercent(*fraction) : "-";
}

std::string Fixed(const OptionalNumber& value, int digits) {
  return value ? absl::StrFormat("%.*f", digits, *value) : "-";
}

std::string Row(const OptionalInt& row) { return row ? FormatCount(*row) : "-"; }

std::string NameOf(const SweepReport& report) {
  return report.sweep.empty() ? "(no name)" : report.sweep;
}

// The largest sweeps with modelled rows, in their order of appearance.
Sweeps ShownSweeps(const ValidationReport& report) {
  Sweeps shown;
  for (const SweepReport& sweep : report.sweeps) {
    if (sweep.modelled > 0) shown.push_back(&sweep);
  }
  if (shown.size() <= kShownSweeps) return shown;
  std::stable_sort(shown.begin(), shown.end(), [](const SweepReport* a, const SweepReport* b) {
    return a->modelled > b->modelled;
  });
  shown.resize(kShownSweeps);
  std::sort(shown.begin(), shown.end());  // they lie in one vector, in the order of appearance
  return shown;
}

void PrintSummary(const ValidationReport& report, std::ostream& out) {
  const SweepReport& total = report.total;
  out << FormatCount(total.rows) << (total.rows == 1 ? " measurement" : " measurements") << " in "
      << FormatCount(static_cast<int64_t>(report.sweeps.size()))
      << (report.sweeps.size() == 1 ? " sweep: " : " sweeps: ") << FormatCount(total.ok) << " ok, "
      << FormatCount(total.oom) << " out of memory, " << FormatCount(total.error)
      << " failed otherwise; " << FormatCount(total.modelled) << " modelled\n";
}

void PrintMemory(const Sweeps& sweeps, const SweepReport& total, std::ostream& out) {
  out << "\nMemory. Below 80 % of the device a run is expected to fit: runs that ran out and were "
         "caught or missed,\nruns that fit and were kept or rejected; accuracy and AUC of the "
         "probability of running out; median error of the peak:\n";
  Table table({"sweep", "rows", "modelled", "ok", "oom", "caught", "missed", "kept", "rejected",
               "accuracy", "AUC", "peak error"});
  const auto add = [&table](const SweepReport& r) {
    table.Add({NameOf(r), FormatCount(r.rows), FormatCount(r.modelled), FormatCount(r.ok),
               FormatCount(r.oom), FormatCount(r.oom_caught), FormatCount(r.oom_missed),
               FormatCount(r.ok_kept), FormatCount(r.ok_rejected), Percent(r.oom_accuracy),
               Fixed(r.oom_auc, 3), Percent(r.memory_median_error)});
  };
  for (const SweepReport* sweep : sweeps) add(*sweep);
  add(total);
  table.Print(out);
}

bool HasSpeed(const SweepReport& r) {
  return r.mfu_mae_points || r.step_time_mape || r.regret_safe_points || r.regret_likely_points;
}

void PrintSpeed(const Sweeps& sweeps, const ValidationReport& report, std::ostream& out) {
  const SweepReport& total = report.total;
  if (!HasSpeed(total)) return;
  out << "\nSpeed. Mean errors of MFU (points) and step time, rank correlation of throughput, "
         "share "
         "of step times inside\nthe predicted interval; MFU points lost by picking the fastest "
         "predicted layout below 80 % of the device (safe)\nor with a probability of running out "
         "below 0.5 (likely), and the row of that pick:\n";
  Table table(
      {"sweep", "MFU error", "step error", "Spearman", "inside", "safe", "row", "likely", "row"});
  const auto add = [&table](const SweepReport& r) {
    table.Add({NameOf(r), Fixed(r.mfu_mae_points, 2), Percent(r.step_time_mape),
               Fixed(r.spearman, 3), Percent(r.inside_interval), Fixed(r.regret_safe_points, 2),
               Row(r.pick_safe), Fixed(r.regret_likely_points, 2), Row(r.pick_likely)});
  };
  for (const SweepReport* sweep : sweeps) {
    if (HasSpeed(*sweep)) add(*sweep);
  }
  add(total);
  table.Print(out);
  out << "total: Spearman is the mean over sweeps of at least 15 rows (all rows in one ranking: "
      << Fixed(report.spearman_pooled, 3) << "),\nregrets are means over sweeps of at least 2 rows "
      << "(largest: safe " << Fixed(report.regret_safe_points_max, 2) << ", likely "
      << Fixed(report.regret_likely_points_max, 2) << ")\n";
}

void PrintLeftOut(const ValidationReport& report, size_t shown, std::ostream& out) {
  const auto modelled = static_cast<size_t>(
      std::count_if(report.sweeps.begin(), report.sweeps.end(),
                    [](const SweepReport& sweep) { return sweep.modelled > 0; }));
  if (modelled > shown) {
    out << "\n"
        << modelled - shown << " smaller sweeps are not shown; --format json has them all\n";
  }
}

// Rows that were refused for one cause, by what was wrong in each.
struct Refusal {
  int64_t rows = 0;
  std::map<std::string, int64_t> values;
};

// Takes "column = value: problem" apart into cause and value; a broken rule is its own cause, with
// the sentence as the value.
std::pair<std::string, std::string> CauseAndValue(const RowPrediction& row) {
  const std::string start = row.subject + " = ";
  const size_t colon = row.reason.rfind(": ");
  if (!row.reason.starts_with(start) || colon == std::string::npos) {
    return {row.subject, row.reason};
  }
  return {row.subject + ": " + row.reason.substr(colon + 2),
          row.reason.substr(start.size(), colon - start.size())};
}

// The commonest first, those beyond kShownValues as a count; of one kind of sentence the commonest.
std::string DescribeValues(const std::string& cause, const Refusal& refusal) {
  std::vector<std::pair<std::string, int64_t>> values(refusal.values.begin(), refusal.values.end());
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const bool is_rule = cause.find(": ") == std::string::npos;
  if (is_rule) return "for example, " + values.front().first;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShownValues); ++i) {
    if (i > 0) text += "; ";
    text += values[i].first;
    if (values.size() > 1) text += " (" + FormatCount(values[i].second) + ")";
  }
  if (values.size() > kShownValues) {
    text += absl::StrFormat("; %d more", values.size() - kShownValues);
  }
  return text;
}

void PrintReasons(absl::Span<const RowPrediction> rows, std::ostream& out) {
  std::map<std::string, Refusal> causes;
  for (const RowPrediction& row : rows) {
    if (row.reason.empty()) continue;
    const auto [cause, value] = CauseAndValue(row);
    ++causes[cause].rows;
    ++causes[cause].values[value];
  }
  if (causes.empty()) return;
  std::vector<std::pair<std::string, Refusal>> sorted(causes.begin(), causes.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.rows > b.second.rows; });
  out << "\nNot modelled (--rows FILE has the reason of each row):\n";
  for (const auto& [cause, refusal] : sorted) {
    const std::string values = DescribeValues(cause, refusal);
    out << absl::StrFormat("%7s  %s%s\n", FormatCount(refusal.rows), cause,
                           values == "(empty)" ? "" : " [" + values + "]");
  }
}

}  // namespace

void PrintValidation(const ValidationReport& report, absl::Span<const RowPrediction> rows,
                     std::ostream& out) {
  PrintSummary(report, out);
  const Sweeps shown = ShownSweeps(report);
  if (!shown.empty()) {
    PrintMemory(shown, report.total, out);
    PrintSpeed(shown, report, out);
    PrintLeftOut(report, shown.size(), out);
  }
  PrintReasons(rows, out);
}

}  // namespace meshwright
