#include "planner/measurement/row_prediction.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "planner/block/parameters.h"
#include "planner/estimate/estimate.h"
#include "planner/estimate/peak_interval.h"
#include "planner/measurement/noted_values.h"
#include "planner/measurement/source_words.h"
#include "planner/measurement/stated_flops.h"
#include "planner/memory/rank_memory.h"
#include "planner/spec/option_choice.h"

namespace meshwright::planner {
namespace {

// Empty where the time says nothing of the layout: an `environment=suspect` among the notes.
std::string ChoiceOf(const Measurement& row) {
  const std::vector<std::string_view> environments = NotedValues(row.notes, "environment");
  if (std::find(environments.begin(), environments.end(), "suspect") != environments.end())
    return "";
  const auto number = [](const OptionalInt& value) { return value ? absl::StrCat(*value) : ""; };
  return absl::StrCat(row.sweep, "|", row.model, "|", number(row.layers), "|", number(row.hidden),
                      "|", number(row.vocab), "|", number(row.seq), "|", number(row.gbs), "|",
                      number(row.gpus));
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

// Adds the measured figures in the planner's terms.
void AddMeasured(const Measurement& measured, const PlannedRow& planned, RowPrediction& row) {
  const auto devices = static_cast<double>(planned.devices);
  const OptionalNumber& tokens_per_s = measured.tokens_per_s_per_gpu;
  row.step_s = measured.step_time_s;
  if (!row.step_s && tokens_per_s) row.step_s = StepTokens(planned) / (*tokens_per_s * devices);
  if (!row.step_s && measured.tflops_per_gpu) {
    row.step_s = StatedStepFlops(measured, planned) / (*measured.tflops_per_gpu * 1e12 * devices);
  }
  if (!row.step_s) {
    row.mfu = measured.mfu;
    return;
  }
  row.tokens_per_s_per_device = StepTokens(planned) / (*row.step_s * devices);
  row.mfu = PalmStepFlops(planned.model, planned.training) / (*row.step_s * PeakFlops(planned));
}

// Removes the derived figures of a row whose time can't be right.
void RefuseTime(const Measurement& measured, RowPrediction& row) {
  const bool by_step = measured.step_time_s.has_value();
  const bool by_tokens = !by_step && measured.tokens_per_s_per_gpu;
  const double value = by_step     ? *measured.step_time_s
                       : by_tokens ? *measured.tokens_per_s_per_gpu
                                   : *measured.tflops_per_gpu;
  const absl::Status status = FieldError(
      by_step     ? "step_time_s"
      : by_tokens ? "tokens_per_s_per_gpu"
                  : "tflops_per_gpu",
      absl::StrFormat("%g", value),
      absl::StrFormat("makes an MFU of %.0f %% on these devices; must be at most %.0f %%",
                      100.0 * *row.mfu, 100.0 * kMostMfu));
  row.step_s.reset();
  row.tokens_per_s_per_device.reset();
  row.mfu.reset();
  row.reason = AtLine(measured, std::string(status.message()));
  row.subject = std::string(kUnreadable);
}

bool Names(const Calibration& calibration, const std::string& source) {
  return std::any_of(calibration.sources.begin(), calibration.sources.end(),
                     [&](const std::string& fitted) { return source == fitted; });
}

// Returns kFittedSource only for a row of a source that the presets were fitted to.
EvidenceLevel LevelOfRow(const Measurement& row, const PlannedRow& planned) {
  const FrameworkProfile& profile = *planned.profile;
  const bool named = !row.source.empty() && (Names(planned.cluster.calibration, row.source) ||
                                             Names(profile.calibration, row.source));
  return named ? EvidenceLevel::kFittedSource : LevelOf(planned.cluster, profile);
}

Prediction Predict(const Measurement& row, const PlannedRow& planned, const Layout& layout,
                   PeakRank peak_rank) {
  const EstimateContext context = planned.context();
  const Estimate estimate = EstimateLayout(context, layout);
  Prediction prediction;
  prediction.peak_bytes = EstimateMeasuredPeakBytes(context, layout, peak_rank);
  prediction.fraction_of_device = estimate.fraction_of_device;
  prediction.step_s = estimate.time.step_s();
  prediction.level = LevelOfRow(row, planned);
  prediction.peak_error = PeakErrorAt(prediction.level, *planned.profile);
  prediction.oom_probability =
      OomCurveOf(*planned.profile, prediction.peak_error.shared).At(prediction.fraction_of_device);
  const PeakInterval peaks = PeakIntervalOf(prediction.peak_error);
  const auto peak_bytes = static_cast<double>(prediction.peak_bytes);
  prediction.peak_low_bytes = std::llround(peaks.low * peak_bytes);
  prediction.peak_high_bytes = std::llround(peaks.high * peak_bytes);
  const EnumSet<Unfitted> unfitted =
      UnfittedOf(planned.model, planned.training, planned.cluster.device_kind());
  prediction.step_error =
      StepErrorAt(prediction.level, planned.cluster, *planned.profile, unfitted);
  const StepInterval interval =
      StepIntervalOf(planned.cluster, *planned.profile, unfitted, prediction.level);
  prediction.step_low_s = prediction.step_s * interval.low;
  prediction.step_high_s = prediction.step_s * interval.high;
  prediction.mfu = estimate.mfu;
  prediction.tokens_per_s_per_device = estimate.tokens_per_s / static_cast<double>(planned.devices);
  return prediction;
}

std::string OptionsOf(const TrainingSpec& training) {
  std::string text(PrecisionName(training.precision));
  for (const auto& [name, value] : ChangedOptions(training)) {
    absl::StrAppend(&text, " ", name, "=", value);
  }
  return text;
}

}  // namespace

RowPrediction FiguresOfRow(int64_t row, const Measurement& measured, const RowPlan& plan) {
  RowPrediction result;
  result.row = row;
  result.file = measured.file;
  result.line = measured.line;
  result.sweep = measured.sweep;
  result.choice = ChoiceOf(measured);
  result.outcome = measured.outcome;
  result.reason = plan.reason;
  result.subject = plan.subject;
  if (measured.outcome != RunOutcome::kOk || result.subject == kUnreadable) return result;
  if (measured.peak_mem_gib) result.peak_bytes = *measured.peak_mem_gib * kBytesPerGib;
  if (!plan.row) return result;
  AddMeasured(measured, *plan.row, result);
  if (result.step_s && *result.mfu > kMostMfu) RefuseTime(measured, result);
  return result;
}

RowPrediction PredictRow(int64_t row, const Measurement& measured,
                         const MeasurementPresets& presets) {
  const RowPlan plan = PlanRow(measured, presets);
  RowPrediction result = FiguresOfRow(row, measured, plan);
  if (!plan.layout || !result.reason.empty()) return result;
  const PeakRank peak_rank =
      MeaningOfPeakRank(measured.notes).value_or(plan.row->profile->kept.peak_rank);
  result.predicted = Predict(measured, *plan.row, *plan.layout, peak_rank);
  result.layout = plan.layout;
  result.options = OptionsOf(plan.row->training);
  result.oom = OomCurveOf(*plan.row->profile, 0.0);
  return result;
}

}  // namespace meshwright::planner
