// Names the fields of sweeps that were replayed on recorded results (planner/codec/fields.h).
#pragma once

#include <vector>

#include "base/text/enum_names.h"
#include "planner/codec/fields.h"
#include "planner/replay/replay.h"

namespace meshwright::planner {

inline constexpr EnumNames<TrialStop, 4> kTrialStopNames = {{
    {TrialStop::kGain, "gain"},
    {TrialStop::kTrials, "trials"},
    {TrialStop::kNothingFits, "nothing_fits"},
    {TrialStop::kAllRan, "all_ran"},
}};

// A replayed sweep, and whether to show the results of related sweeps with which the replay began.
struct ReplayRow {
  SweepReplay sweep;
  bool with_relatives = false;
};

struct ReplayText {
  bool with_relatives = false;
  std::vector<ReplayRow> sweeps;
  ReplayTotal total;
};

template <ConstOr<OrderReplay> Order, typename Visitor>
void VisitFields(Order& order, Visitor& visit) {
  visit(OrNull({"trials_to_within_1_point",
                "Trials until the best of them is within 1 point of MFU of the sweep's best; null "
                "where it never gets there"}),
        order.trials_to_within_1_point);
  visit(OrNull({"oom_trials", "Those of these trials that ran out of memory"}), order.oom_trials);
}

template <ConstOr<SweepReplay> Sweep, typename Visitor>
void VisitFields(Sweep& sweep, Visitor& visit) {
  visit({"sweep", "Name of the sweep"}, sweep.sweep);
  visit(OrNull({"global_batch", "Global batch of its rows"}), sweep.global_batch);
  visit({"rows", "Rows"}, sweep.rows);
  visit({"candidates", "Rows that the planner can model and whose outcome is known"},
        sweep.candidates);
  visit({"ok", "Candidates that went through"}, sweep.ok);
  visit(OrNull({"best_mfu",
                "Best measured MFU, a fraction; null where nothing went through with a time"}),
        sweep.best_mfu);
  visit({"trials", "Trials until the policy stopped"}, sweep.trials);
  visit({"oom_trials", "Trials that ran out of memory"}, sweep.oom_trials);
  visit({"error_trials", "Trials that failed for another reason"}, sweep.error_trials);
  visit(OrNull({"found_mfu", "Best MFU of the trials, a fraction"}), sweep.found_mfu);
  visit(OrNull({"found_regret_points",
                "Best measured MFU less that of the best trial, percentage points"}),
        sweep.found_regret_points);
  visit(OrNull({"trials_to_within_1_point",
                "Trials until the best of them is within 1 point of MFU of the sweep's best; null "
                "where the policy stopped before"}),
        sweep.trials_to_within_1_point);
  visit({"trial_rows", "Rows in the order of the trials, counted from 0 over all files"},
        sweep.trial_rows);
  visit({"trial_reasons", "Why each trial was next"}, sweep.reasons);
  visit({"stop",
         "Why it stopped: no expected gain is worth a trial, the limit of trials is reached, every "
         "layout left is more likely to run out of memory than not, or no layout is left"},
        sweep.stop, kTrialStopNames);
  visit({"stop_reason", "The reason of `stop` as a sentence with numbers"}, sweep.stop_reason);
  visit({"predicted_order",
         "Trials in the order of the predictions: layouts more likely to fit than not, the fastest "
         "first, then the others"},
        sweep.predicted_order);
  visit({"random_order", "Medians over 200 orders at random"}, sweep.random_order);
  visit({"tpe_order",
         "Medians over 5 seeds of Optuna's TPE sampler, where python3 has Optuna; null without "
         "--tpe"},
        sweep.tpe_order);
}

template <ConstOr<ReplayRow> Row, typename Visitor>
void VisitFields(Row& row, Visitor& visit) {
  VisitFields(row.sweep, visit);
  visit(OnlyIf(row.with_relatives,
               {"related_sweeps",
                "Sweeps whose results it began with, the nearest first; only with --relatives"}),
        row.sweep.related_sweeps);
  visit(OnlyIf(row.with_relatives,
               {"related_results", "Number of results of these sweeps; only with --relatives"}),
        row.sweep.related_results);
}

template <ConstOr<ReplayTotal> Total, typename Visitor>
void VisitFields(Total& total, Visitor& visit) {
  visit({"sweeps",
         "Sweeps of at least 20 rows, some of which went through; the other figures cover only "
         "these sweeps"},
        total.sweeps);
  visit({"found", "Sweeps that ended within 1 point and 3 % of the best"}, total.found);
  visit(OrNull({"worst_regret_points", "Largest found_regret_points"}), total.worst_regret_points);
  visit(OrNull({"mean_trials", "Mean of trials"}), total.mean_trials);
  visit({"most_trials", "Largest number of trials"}, total.most_trials);
  visit({"most_oom_trials", "Largest number of trials out of memory"}, total.most_oom_trials);
}

template <ConstOr<ReplayText> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit(
      OnlyIf(
          answer.with_relatives,
          {"relatives",
           "Whether each sweep began with the results of the other sweeps; only with --relatives"}),
      answer.with_relatives);
  visit({"sweeps", "Rows of one sweep and one global batch each, in the order of their first rows"},
        answer.sweeps);
  visit({"total", "Totals over the sweeps"}, answer.total);
}

}  // namespace meshwright::planner
