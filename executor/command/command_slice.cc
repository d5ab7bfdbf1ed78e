#include "executor/command/command_slice.h"

#include <array>
#include <utility>

#include "executor/command/command_trial.h"
#include "executor/trial/utilisation.h"
#include "planner/cost/measured_step.h"

namespace meshwright::command {
namespace {

using planner::TimePart;

// What a rank does alone.
constexpr std::array kOwnParts = {TimePart::kCompute, TimePart::kRecompute, TimePart::kOffload,
                                  TimePart::kPressure, TimePart::kOptimizer};

}  // namespace

void ComposeSlice(const trial::TrialPlan& plan, const ModelledStep& modelled,
                  trial::TrialResult& result) {
  trial::SliceResult slice;
  slice.cluster = modelled.cluster;
  const int32_t stage = static_cast<int32_t>(plan.layout.pp) - 1;
  trial::RankResult& rank = result.ranks.front();
  if (!plan.estimated_bytes.empty()) rank.estimated_bytes = plan.estimated_bytes.back();
  trial::SliceStage& measured = slice.stages.emplace_back();
  measured.pipeline_ranks = {stage};
  measured.measured_rank = stage;
  measured.peak_bytes = rank.peak_bytes;
  measured.estimated_bytes = rank.estimated_bytes;
  double modelled_own_s = 0.0;
  for (const TimePart part : kOwnParts) modelled_own_s += modelled.part[part];
  for (const TimePart part : planner::kModelledParts) slice.step[part] = modelled.part[part];
  slice.step[TimePart::kEp] = modelled.part[TimePart::kEp];
  slice.step[TimePart::kCompute] = result.step_s;
  if (modelled_own_s > 0.0) {
    slice.step[TimePart::kBubble] =
        modelled.part[TimePart::kBubble] * result.step_s / modelled_own_s;
  }
  result.step_s = slice.step.step_s();
  result.step_interval.reset();
  result.slice = std::move(slice);
  trial::AddUtilisation(plan, plan.layout.devices(), result);
}

trial::TrialResult RunCommandSlice(const trial::TrialPlan& plan, const Runner& runner,
                                   const CommandHost& host, const ModelledStep& modelled,
                                   const trial::TrialRunnerOptions& options) {
  trial::TrialPlan slice_plan = plan;
  slice_plan.slice = true;
  trial::TrialResult result = RunCommandTrial(slice_plan, SliceRunner(runner), host, options);
  if (result.outcome == trial::TrialOutcome::kOk) ComposeSlice(plan, modelled, result);
  return result;
}

}  // namespace meshwright::command
