#include "tools/cli/sweep/drawn_trials.h"

#include <algorithm>
#include <string>

#include "executor/wire/wire.h"

namespace meshwright::cli {

std::vector<planner::DrawnTrial> DrawnTrials(const ShownSweep& shown) {
  std::vector<const TrialView*> ended;
  for (const TrialView& view : shown.trials) {
    // This state and all after it are final.
    if (view.trial.state() >= v1::TRIAL_STATE_OK) ended.push_back(&view);
  }
  std::stable_sort(ended.begin(), ended.end(), [](const TrialView* a, const TrialView* b) {
    return wire::FromWire(a->trial.end_time()) < wire::FromWire(b->trial.end_time());
  });
  std::vector<planner::DrawnTrial> drawn;
  for (const TrialView* view : ended) {
    planner::DrawnTrial& trial = drawn.emplace_back();
    trial.number = std::stoi(NumberOf(view->trial.name()));
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
