#include "planner/measurement/row_prediction.h"

#include "planner/estimate/estimate.h"
#include "planner/measurement/planned_row.h"
#include "planner/memory/rank_memory.h"
#include "planner/spec/parameters.h"

namespace meshwright {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// A figure that no run can have is as good as none, and would end in infinite errors.
OptionalNumber Plausible(const OptionalNumber& value) {
  return value && *value > 1e-9 && *value < 1e12 ? value : std::nullopt;
}

double StepTokens(const PlannedRow& planned) {
  return static_cast<double>(planned.training.global_batch) *
         static_cast<double>(planned.training.seq_len);
}

// The peak that MFU is a share of, over all devices.
double PeakFlops(const PlannedRow& planned) {
  return RankPeakFlops(planned.cluster, planned.training.precision, planned.devices) *
         static_cast<double>(planned.devices);
}

// What was measured, in the planner's terms.
void AddMeasured(const Measurement& measured, const PlannedRow& planned, RowPrediction& row) {
  const auto devices = static_cast<double>(planned.devices);
  row.step_s = Plausible(measured.step_time_s);
  const OptionalNumber tokens_per_s = Plausible(measured.tokens_per_s_per_gpu);
  if (!row.step_s && tokens_per_s) row.step_s = StepTokens(planned) / (*tokens_per_s * devices);
  if (!row.step_s) {
    row.mfu = Plausible(measured.mfu);
    return;
  }
  row.tokens_per_s_per_device = StepTokens(planned) / (*row.step_s * devices);
  row.mfu = PalmStepFlops(planned.model, planned.training) / (*row.step_s * PeakFlops(planned));
}

Prediction Predict(const PlannedRow& planned, const Layout& layout) {
  const EstimateContext context = planned.context();
  const Estimate estimate = EstimateLayout(context, layout);
  Prediction prediction;
  prediction.peak_bytes = EstimateMeasuredPeakBytes(context, layout);
  prediction.fraction_of_device = estimate.fraction_of_device;
  prediction.oom_probability = estimate.oom_probability;
  prediction.step_s = estimate.time.step_s();
  prediction.step_low_s = estimate.step_low_s;
  prediction.step_high_s = estimate.step_high_s;
  prediction.mfu = estimate.mfu;
  prediction.tokens_per_s_per_device = estimate.tokens_per_s / static_cast<double>(planned.devices);
  return prediction;
}

}  // namespace

RowPrediction PredictRow(int64_t row, const Measurement& measured,
                         const MeasurementPresets& presets) {
  RowPrediction result;
  result.row = row;
  result.sweep = measured.sweep;
  result.outcome = measured.outcome;
  const RowPlan plan = PlanRow(measured, presets);
  result.reason = plan.reason;
  result.subject = plan.subject;
  if (plan.layout) result.predicted = Predict(*plan.row, *plan.layout);
  if (measured.outcome != Outcome::kOk) return result;
  if (plan.row) AddMeasured(measured, *plan.row, result);
  if (const OptionalNumber peak = Plausible(measured.peak_mem_gib))
    result.peak_bytes = *peak * kGib;
  return result;
}

}  // namespace meshwright
