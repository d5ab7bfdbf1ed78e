#include "tools/cli/sweep/drawn_trials.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace meshwright::cli {

std::vector<planner::DrawnTrial> DrawnTrials(const ShownSweep& shown) {
  std::vector<const TrialView*> ended;
  for (const TrialView& view : shown.trials) {
    const bool is_left = view.trial.state() == v1::TRIAL_STATE_PENDING ||
                         view.trial.state() == v1::TRIAL_STATE_ASSIGNED ||
                         view.trial.state() == v1::TRIAL_STATE_RUNNING;
    if (!is_left) ended.push_back(&view);
  }
  std::stable_sort(ended.begin(), ended.end(), [](const TrialView* a, const TrialView* b) {
    const auto key = [](const v1::Trial& trial) {
      return std::tuple(trial.end_time().seconds(), trial.end_time().nanos());
    };
    return key(a->trial) < key(b->trial);
  });
  std::vector<planner::DrawnTrial> drawn;
  for (const TrialView* view : ended) {
    planner::DrawnTrial& trial = drawn.emplace_back();
    trial.number = std::stoi(NumberOf(view->trial));
    trial.state = StateName(view->trial.state());
    if (view->predicted) trial.predicted_s = view->predicted->estimate.time.step_s();
    if (view->compared) trial.step_s = view->compared->step.step_s;
  }
  return drawn;
}

void PrintDrawing(const ShownSweep& shown, std::ostream& out) {
  const std::vector<std::string> lines = planner::SweepLines(DrawnTrials(shown));
  if (lines.empty()) return;
  out << "\nIn the order of their ends, step times from the shortest to the longest: * measured, o "
         "predicted\n";
  for (const std::string& line : lines) out << line << "\n";
}

}  // namespace meshwright::cli
