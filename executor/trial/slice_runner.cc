#include "executor/trial/slice_runner.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/trial/capabilities.h"
#include "executor/trial/conclusion.h"
#include "executor/trial/slice_composition.h"
#include "executor/trial/utilisation.h"

namespace meshwright::trial {
namespace {

// Pipeline ranks are the outermost axis.
int32_t FirstRankOf(const planner::Layout& layout, int32_t pipeline_rank) {
  return pipeline_rank * static_cast<int32_t>(layout.devices() / layout.pp);
}

MeasuredSlice SliceOf(DistinctStage stage, const RanksRun& run) {
  const RankRecord& record = run.records.front();
  MeasuredSlice slice;
  slice.stage = std::move(stage);
  slice.mean = MeanOfTimedSteps(record);
  slice.last = record.trace->record;
  slice.peak_bytes = run.result.ranks.front().peak_bytes;
  slice.estimated_bytes = run.result.ranks.front().estimated_bytes;
  return slice;
}

void AddRun(const TrialResult& run, TrialResult& result) {
  result.ranks.push_back(run.ranks.front());
  result.host = run.host;
  result.worker_version = run.worker_version;
  if (result.message.empty()) result.message = run.message;
  result.measured_peak_flops = std::max(result.measured_peak_flops, run.measured_peak_flops);
}

TrialResult Failed(absl::string_view message) {
  TrialResult result;
  result.outcome = TrialOutcome::kFailed;
  result.message = std::string(message);
  return result;
}

}  // namespace

TrialResult RunSliceTrial(const TrialPlan& plan, const planner::EstimateContext& context,
                          const TrialRunnerOptions& options) {
  const absl::Status runnable = CheckRules(plan.model, plan.layout, plan.training, plan.device);
  if (!runnable.ok()) return Failed(runnable.message());
  TrialPlan slice_plan = plan;
  slice_plan.slice = true;
  slice_plan.trace = true;
  TrialRunnerOptions slice_options = options;
  slice_options.trace = {};  // no step of all ranks exists to trace
  TrialResult result;
  std::vector<DistinctStage> stages = DistinctStages(plan.model, plan.layout, plan.estimated_bytes);
  // Checked before the first slice runs. Slices run one at a time, so each has all the memory left.
  for (const DistinctStage& stage : stages) {
    const int32_t rank = FirstRankOf(plan.layout, stage.measured_rank);
    const absl::Status fits = CheckMemory(slice_plan, {rank}, slice_options);
    if (!fits.ok()) return Failed(fits.message());
  }
  std::vector<MeasuredSlice> slices;
  for (DistinctStage& stage : stages) {
    const int32_t rank = FirstRankOf(plan.layout, stage.measured_rank);
    if (options.progress) {
      // A stage alone gets made-up activations, so its loss is meaningless.
      slice_options.progress = [&](TrialProgress progress) {
        progress.loss.reset();
        progress.part = absl::StrCat("pipeline rank ", stage.measured_rank);
        options.progress(progress);
      };
    }
    const RanksRun run = RunRanks(slice_plan, {rank}, slice_options);
    if (run.result.outcome != TrialOutcome::kOk) return run.result;
    // All slices share one peak, so that their MFU is one figure.
    slice_plan.known_peak_flops = run.result.measured_peak_flops;
    AddRun(run.result, result);
    slices.push_back(SliceOf(std::move(stage), run));
  }
  absl::StatusOr<SliceResult> composed = ComposeSlices(context, plan.layout, slices);
  if (!composed.ok()) return Failed(composed.status().message());
  result.outcome = TrialOutcome::kOk;
  result.step_s = composed->step.step_s();
  AddUtilisation(plan, plan.layout.devices(), result);
  result.slice = *std::move(composed);
  return result;
}

}  // namespace meshwright::trial
