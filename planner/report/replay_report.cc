#include "planner/report/replay_report.h"

#include <vector>

#include "base/text/enum_names.h"
#include "planner/codec/fields.h"
#include "planner/codec/json_codec.h"

namespace meshwright::planner {
namespace {

constexpr EnumNames<TrialStop, 5> kTrialStopNames = {{
    {TrialStop::kNone, ""},
    {TrialStop::kGain, "gain"},
    {TrialStop::kTrials, "trials"},
    {TrialStop::kNothingFits, "nothing_fits"},
    {TrialStop::kAllRan, "all_ran"},
}};

// A sweep, and whether the results that related sweeps gave it are shown.
struct SweepRow {
  SweepReplay sweep;
  bool with_relatives = false;
};

struct ReplayJson {
  bool with_relatives = false;
  std::vector<SweepRow> sweeps;
  ReplayTotal total;
};

}  // namespace

template <ConstOr<OrderReplay> Order, typename Visitor>
void VisitFields(Order& order, Visitor& visit) {
  visit(OrNull("trials_to_within_1_point"), order.trials_to_within_1_point);
  visit(OrNull("oom_trials"), order.oom_trials);
}

template <ConstOr<SweepReplay> Sweep, typename Visitor>
void VisitFields(Sweep& sweep, Visitor& visit) {
  visit("sweep", sweep.sweep);
  visit(OrNull("global_batch"), sweep.global_batch);
  visit("rows", sweep.rows);
  visit("candidates", sweep.candidates);
  visit("ok", sweep.ok);
  visit(OrNull("best_mfu"), sweep.best_mfu);
  visit("trials", sweep.trials);
  visit("oom_trials", sweep.oom_trials);
  visit("error_trials", sweep.error_trials);
  visit(OrNull("found_mfu"), sweep.found_mfu);
  visit(OrNull("found_regret_points"), sweep.found_regret_points);
  visit(OrNull("trials_to_within_1_point"), sweep.trials_to_within_1_point);
  visit("trial_rows", sweep.trial_rows);
  visit("trial_reasons", sweep.reasons);
  visit("stop", sweep.stop, kTrialStopNames);
  visit("stop_reason", sweep.stop_reason);
  visit("predicted_order", sweep.predicted_order);
  visit("random_order", sweep.random_order);
  visit("tpe_order", sweep.tpe_order);
}

namespace {

template <ConstOr<SweepRow> Row, typename Visitor>
void VisitFields(Row& row, Visitor& visit) {
  VisitFields(row.sweep, visit);
  visit(OnlyIf(row.with_relatives, "related_sweeps"), row.sweep.related_sweeps);
  visit(OnlyIf(row.with_relatives, "related_results"), row.sweep.related_results);
}

}  // namespace

template <ConstOr<ReplayTotal> Total, typename Visitor>
void VisitFields(Total& total, Visitor& visit) {
  visit("sweeps", total.sweeps);
  visit("found", total.found);
  visit(OrNull("worst_regret_points"), total.worst_regret_points);
  visit(OrNull("mean_trials"), total.mean_trials);
  visit("most_trials", total.most_trials);
  visit("most_oom_trials", total.most_oom_trials);
}

namespace {

template <ConstOr<ReplayJson> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit(OnlyIf(answer.with_relatives, "relatives"), answer.with_relatives);
  visit("sweeps", answer.sweeps);
  visit("total", answer.total);
}

}  // namespace

nlohmann::ordered_json ReplayToJson(absl::Span<const SweepReplay> sweeps, bool with_relatives) {
  ReplayJson report{.with_relatives = with_relatives, .sweeps = {}, .total = TotalOf(sweeps)};
  for (const SweepReplay& sweep : sweeps) report.sweeps.push_back({sweep, with_relatives});
  return WriteOrderedJson(report);
}

}  // namespace meshwright::planner
