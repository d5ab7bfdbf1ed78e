// Names the fields of a comparison of predictions with measurements, and of the rows that it leaves
// out (planner/codec/fields.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/measurement/refusals.h"
#include "planner/measurement/validation.h"

namespace meshwright::planner {

template <typename Visitor>
void VisitFields(const SweepReport& report, Visitor& visit) {
  visit({"sweep", "Name of the sweep"}, report.sweep);
  visit({"rows", "Rows"}, report.rows);
  visit({"ok", "Rows that went through"}, report.ok);
  visit({"oom", "Rows that ran out of memory"}, report.oom);
  visit({"error", "Rows that failed otherwise"}, report.error);
  visit({"modelled", "Rows with a prediction"}, report.modelled);
  visit({"oom_caught", "Rows that ran out of memory, predicted at or above 80 % of the device"},
        report.oom_caught);
  visit({"oom_missed", "Rows that ran out of memory, predicted below 80 % of the device"},
        report.oom_missed);
  visit({"ok_kept", "Rows that fit, predicted below 80 % of the device"}, report.ok_kept);
  visit({"ok_rejected", "Rows that fit, predicted at or above 80 % of the device"},
        report.ok_rejected);
  visit(OrNull({"oom_accuracy", "Accuracy of the probability of running out of memory, at 0.5"}),
        report.oom_accuracy);
  visit(OrNull({"oom_auc", "Area under the ROC curve of that probability"}), report.oom_auc);
  visit(OrNull({"memory_median_error", "Median of |predicted / measured - 1| of the peak memory"}),
        report.memory_median_error);
  visit(OrNull({"mfu_mae_points", "Mean error of the MFU, percentage points"}),
        report.mfu_mae_points);
  visit(OrNull({"step_time_mape", "Mean of |predicted / measured - 1| of the step time"}),
        report.step_time_mape);
  visit(OrNull({"spearman", "Rank correlation of throughput"}), report.spearman);
  visit(OrNull({"regret_safe_points", "MFU points lost by the fastest predicted below 80 %"}),
        report.regret_safe_points);
  visit(OrNull({"regret_likely_points",
                "MFU points lost by the fastest predicted below an OOM probability of 0.5"}),
        report.regret_likely_points);
  visit(OrNull({"pick_safe", "Row of the fastest predicted below 80 %"}), report.pick_safe);
  visit(OrNull({"pick_likely", "Row of the fastest predicted below an OOM probability of 0.5"}),
        report.pick_likely);
  visit(
      {"choices", "Choices between at least six layouts of one model, batch and number of devices"},
      report.choices);
  visit({"likely_out_of_memory", "Choices whose pick ran out of memory"},
        report.likely_out_of_memory);
  visit(OrNull({"regret_likely_share",
                "Measured time per token of the other picks / the best measured one - 1, mean over "
                "the choices"}),
        report.regret_likely_share);
  visit(OrNull({"regret_likely_share_max", "Largest regret_likely_share of a choice"}),
        report.regret_likely_share_max);
  visit(OrNull({"inside_interval", "Share of step times inside the predicted interval"}),
        report.inside_interval);
}

// The figures of all rows together: the figures of a sweep, and figures that exist only for all
// rows.
struct TotalText {
  ValidationReport report;
};

template <typename Visitor>
void VisitFields(const TotalText& total, Visitor& visit) {
  const ValidationReport& report = total.report;
  VisitFields(report.total, visit);
  visit(OrNull({"spearman_pooled", "Rank correlation of throughput over all rows in one ranking"}),
        report.spearman_pooled);
  visit(OrNull({"regret_safe_points_max", "Largest regret_safe_points of a sweep"}),
        report.regret_safe_points_max);
  visit(OrNull({"regret_likely_points_max", "Largest regret_likely_points of a sweep"}),
        report.regret_likely_points_max);
}

template <typename Visitor>
void VisitFields(const ValidationReport& report, Visitor& visit) {
  visit({"sweeps", "Sweeps, in the order of their first rows"}, report.sweeps);
  visit({"total", "All rows together"}, TotalText{report});
}

template <typename Visitor>
void VisitFields(const UnreadableRow& row, Visitor& visit) {
  visit({"file", "File"}, row.file);
  visit({"line", "Line in it, from 1"}, row.line);
  visit({"reason", "What could not be read"}, row.reason);
}

// A value that was refused, and the number of rows that have it.
struct RefusedValue {
  std::string value;
  int64_t rows = 0;
};

template <typename Visitor>
void VisitFields(const RefusedValue& refused, Visitor& visit) {
  visit({"value", "The value"}, refused.value);
  visit({"rows", "Number of rows"}, refused.rows);
}

template <typename Visitor>
void VisitFields(const Refusal& refusal, Visitor& visit) {
  std::vector<RefusedValue> values;
  for (const auto& [value, rows] : refusal.values) values.push_back({value, rows});
  visit({"cause", "Cause for which the rows were refused"}, refusal.cause);
  visit({"rows", "Number of rows"}, refusal.rows);
  visit({"values", "Refused values, or sentences on a broken rule, each with its number of rows"},
        values);
}

template <typename Visitor>
void VisitFields(const Refusals& refusals, Visitor& visit) {
  const auto unreadable_rows = static_cast<int64_t>(refusals.unreadable.size());
  visit({"unreadable_rows", "Rows that could not be read"}, unreadable_rows);
  visit({"unreadable", "Each row that could not be read"}, refusals.unreadable);
  visit({"not_modelled", "Rows that could be read and not modelled, by cause"},
        refusals.not_modelled);
}

// The fields that `meshwright validate` prints.
struct ValidationText {
  ValidationReport report;
  Refusals refusals;
};

template <typename Visitor>
void VisitFields(const ValidationText& text, Visitor& visit) {
  VisitFields(text.report, visit);
  VisitFields(text.refusals, visit);
}

}  // namespace meshwright::planner
