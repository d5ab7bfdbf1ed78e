#include "planner/report/replay_report.h"

#include <optional>
#include <string_view>

namespace meshwright::planner {
namespace {

using nlohmann::ordered_json;

template <typename T>
ordered_json OrNull(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::string_view StopName(TrialStop stop) {
  switch (stop) {
    case TrialStop::kGain:
      return "gain";
    case TrialStop::kTrials:
      return "trials";
    case TrialStop::kNothingFits:
      return "nothing_fits";
    case TrialStop::kNone:
      break;
  }
  return "";
}

ordered_json OrderToJson(const OrderReplay& order) {
  return {{"trials_to_within_1_point", OrNull(order.trials_to_within_1_point)},
          {"oom_trials", OrNull(order.oom_trials)}};
}

ordered_json SweepToJson(const SweepReplay& sweep) {
  return {{"sweep", sweep.sweep},
          {"global_batch", OrNull(sweep.global_batch)},
          {"rows", sweep.rows},
          {"candidates", sweep.candidates},
          {"ok", sweep.ok},
          {"best_mfu", OrNull(sweep.best_mfu)},
          {"trials", sweep.trials},
          {"oom_trials", sweep.oom_trials},
          {"error_trials", sweep.error_trials},
          {"found_mfu", OrNull(sweep.found_mfu)},
          {"found_regret_points", OrNull(sweep.found_regret_points)},
          {"trials_to_within_1_point", OrNull(sweep.trials_to_within_1_point)},
          {"trial_rows", sweep.trial_rows},
          {"trial_reasons", sweep.reasons},
          {"stop", StopName(sweep.stop)},
          {"stop_reason", sweep.stop_reason},
          {"predicted_order", OrderToJson(sweep.predicted_order)},
          {"random_order", OrderToJson(sweep.random_order)}};
}

}  // namespace

ordered_json ReplayToJson(absl::Span<const SweepReplay> sweeps) {
  ordered_json list = ordered_json::array();
  for (const SweepReplay& sweep : sweeps) list.push_back(SweepToJson(sweep));
  const ReplayTotal total = TotalOf(sweeps);
  return {{"sweeps", std::move(list)},
          {"total",
           {{"sweeps", total.sweeps},
            {"found", total.found},
            {"worst_regret_points", OrNull(total.worst_regret_points)},
            {"mean_trials", OrNull(total.mean_trials)},
            {"most_trials", total.most_trials},
            {"most_oom_trials", total.most_oom_trials}}}};
}

}  // namespace meshwright::planner
