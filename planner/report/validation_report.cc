#include "planner/report/validation_report.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/strings/str_format.h"

namespace meshwright::planner {
namespace {

using nlohmann::ordered_json;

template <typename T>
ordered_json OrNull(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json SweepToJson(const SweepReport& r) {
  return {{"sweep", r.sweep},
          {"rows", r.rows},
          {"ok", r.ok},
          {"oom", r.oom},
          {"error", r.error},
          {"modelled", r.modelled},
          {"oom_caught", r.oom_caught},
          {"oom_missed", r.oom_missed},
          {"ok_kept", r.ok_kept},
          {"ok_rejected", r.ok_rejected},
          {"oom_accuracy", OrNull(r.oom_accuracy)},
          {"oom_auc", OrNull(r.oom_auc)},
          {"memory_median_error", OrNull(r.memory_median_error)},
          {"mfu_mae_points", OrNull(r.mfu_mae_points)},
          {"step_time_mape", OrNull(r.step_time_mape)},
          {"spearman", OrNull(r.spearman)},
          {"regret_safe_points", OrNull(r.regret_safe_points)},
          {"regret_likely_points", OrNull(r.regret_likely_points)},
          {"pick_safe", OrNull(r.pick_safe)},
          {"pick_likely", OrNull(r.pick_likely)},
          {"inside_interval", OrNull(r.inside_interval)}};
}

// Returns the shortest text that reads back as the same number, so that probabilities close to 1
// stay distinct.
std::string Number(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

// Returns a text as a cell of a format without quotes.
std::string Cell(std::string text) {
  std::replace(text.begin(), text.end(), ',', ';');
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

ordered_json ValidationToJson(const ValidationReport& report) {
  ordered_json sweeps = ordered_json::array();
  for (const SweepReport& sweep : report.sweeps) sweeps.push_back(SweepToJson(sweep));
  ordered_json total = SweepToJson(report.total);
  total["spearman_pooled"] = OrNull(report.spearman_pooled);
  total["regret_safe_points_max"] = OrNull(report.regret_safe_points_max);
  total["regret_likely_points_max"] = OrNull(report.regret_likely_points_max);
  return {{"sweeps", std::move(sweeps)}, {"total", std::move(total)}};
}

ordered_json RefusalsToJson(const Refusals& refusals) {
  ordered_json unreadable = ordered_json::array();
  for (const UnreadableRow& row : refusals.unreadable) {
    unreadable.push_back({{"file", row.file}, {"line", row.line}, {"reason", row.reason}});
  }
  ordered_json not_modelled = ordered_json::array();
  for (const Refusal& refusal : refusals.not_modelled) {
    ordered_json values = ordered_json::array();
    for (const auto& [value, rows] : refusal.values) {
      values.push_back({{"value", value}, {"rows", rows}});
    }
    not_modelled.push_back(
        {{"cause", refusal.cause}, {"rows", refusal.rows}, {"values", std::move(values)}});
  }
  return {{"unreadable_rows", refusals.unreadable.size()},
          {"unreadable", std::move(unreadable)},
          {"not_modelled", std::move(not_modelled)}};
}

std::string RowsToCsv(absl::Span<const RowPrediction> rows) {
  std::string csv = "row,sweep,peak_bytes,fraction_of_device,oom_probability,step_s,mfu,reason\n";
  for (const RowPrediction& row : rows) {
    absl::StrAppendFormat(&csv, "%d,%s,", row.row, Cell(row.sweep));
    if (row.predicted) {
      const Prediction& p = *row.predicted;
      csv += std::to_string(p.peak_bytes);
      for (const double value : {p.fraction_of_device, p.oom_probability, p.step_s, p.mfu}) {
        csv += "," + Number(value);
      }
      csv += ",";
    } else {
      csv += ",,,,,";
    }
    csv += Cell(row.reason) + "\n";
  }
  return csv;
}

}  // namespace meshwright::planner
