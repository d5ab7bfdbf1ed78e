#include "tools/cli/calibrate/calibrate_text.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "planner/calibration/constants.h"
#include "planner/codec/json_codec.h"
#include "planner/estimate/estimate.h"
#include "planner/estimate/step_interval.h"
#include "tools/cli/calibrate/calibrate_fields.h"
#include "tools/cli/common/refusals_text.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

struct SweepError {
  int64_t rows = 0;
  double sum = 0.0;

  double mean() const { return sum / static_cast<double>(rows); }
};

std::map<std::string, SweepError> ErrorsBySweep(const planner::CalibrationResult& result) {
  std::map<std::string, SweepError> errors;
  for (size_t i = 0; i < result.rows.size(); ++i) {
    SweepError& error = errors[result.sweeps[i]];
    ++error.rows;
    error.sum += std::abs(std::expm1(result.fit.residuals[i]));
  }
  return errors;
}

// Returns the calibrations that this fit made.
std::vector<const planner::Calibration*> Fitted(const planner::CalibrationRequest& request,
                                                const planner::CalibrationResult& result) {
  std::vector<const planner::Calibration*> fitted;
  if (request.options.fit_cluster) fitted.push_back(&result.fit.cluster.calibration);
  if (request.options.fit_framework) fitted.push_back(&result.fit.profile.calibration);
  return fitted;
}

// Names of the constants that the rows did not determine, by their present position.
struct UndecidedConstants {
  std::vector<std::string> all;
  std::vector<std::string> near_prior;
  std::vector<std::string> moved;  // inside their bounds
  std::vector<std::string> moved_to_bound;
};

UndecidedConstants Undecided(const planner::CalibrationRequest& request,
                             const planner::CalibrationResult& result) {
  UndecidedConstants undecided;
  for (const planner::Calibration* calibration : Fitted(request, result)) {
    for (const planner::CalibratedConstant& constant : calibration->constants) {
      if (planner::RowsDecided(constant)) continue;
      undecided.all.push_back(constant.name);
      auto& moved = constant.at_bound ? undecided.moved_to_bound : undecided.moved;
      (planner::Moved(constant) ? moved : undecided.near_prior).push_back(constant.name);
    }
  }
  return undecided;
}

size_t ConstantsOf(const planner::CalibrationRequest& request,
                   const planner::CalibrationResult& result) {
  size_t constants = 0;
  for (const planner::Calibration* calibration : Fitted(request, result)) {
    constants += calibration->constants.size();
  }
  return constants;
}

const char* DecidedBy(const planner::CalibratedConstant& constant) {
  if (planner::RowsDecided(constant)) return "the rows";
  if (constant.at_bound) return "its bound";
  return planner::Moved(constant) ? "rows and prior" : "its prior";
}

void PrintUndecided(const UndecidedConstants& undecided, size_t constants, std::ostream& out) {
  if (undecided.near_prior.size() == constants) {
    out << "the rows decided no constant: all are within 3 % of their priors\n";
    return;
  }
  const auto print = [&out](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) out << what << ": " << absl::StrJoin(names, ", ") << "\n";
  };
  print("not decided by the rows, within 3 % of their priors", undecided.near_prior);
  print("moved, but by too few rows to decide them", undecided.moved);
  print(
      "warning: moved to the limit of what is physically possible, so the rows may misdescribe "
      "their runs",
      undecided.moved_to_bound);
}

void PrintConstants(const planner::CalibrationRequest& request,
                    const planner::CalibrationResult& result, std::ostream& out) {
  Table table({"constant", "prior", "fitted", "uncertainty", "decided by"});
  for (const planner::Calibration* calibration : Fitted(request, result)) {
    for (const planner::CalibratedConstant& constant : calibration->constants) {
      table.Add({constant.name, absl::StrFormat("%.4g", constant.prior),
                 absl::StrFormat("%.4g", constant.value),
                 absl::StrFormat("%.1f %%", 100.0 * constant.sigma), DecidedBy(constant)});
    }
  }
  table.Print(out);
  PrintUndecided(Undecided(request, result), ConstantsOf(request, result), out);
}

}  // namespace

void PrintCalibration(const planner::CalibrationRequest& request,
                      const planner::CalibrationResult& result, std::ostream& out) {
  out << FormatCount(static_cast<int64_t>(result.rows.size())) << " measured steps";
  const std::string left_out = planner::DescribeLeftOut(result);
  if (!left_out.empty()) out << " (left out: " << left_out << ")";
  out << "\n";
  PrintRefusals(result.refusals, /*all_in=*/"", out);
  out << "\n";
  PrintConstants(request, result, out);
  out << "\n";
  Table sweeps({"sweep", "rows", "mean step error"});
  for (const auto& [sweep, error] : ErrorsBySweep(result)) {
    sweeps.Add({sweep, FormatCount(error.rows), FormatPercent(error.mean())});
  }
  sweeps.Print(out);
  const planner::Calibration& calibration = *Fitted(request, result).front();
  const auto factor = [](double sigma) { return std::exp(planner::kEightyPercentSigmas * sigma); };
  out << absl::StrFormat(
      "\nstep time: median error %.1f %%, mean %.1f %%; 80 %% of runs within a factor of %.3f",
      100.0 * calibration.median_error, 100.0 * calibration.mean_error,
      factor(result.fit.step_time_sigma));
  const double before = planner::FittedSpread(request.cluster, request.profile);
  if (before > 0.0) out << absl::StrFormat(" (before: %.3f)", factor(before));
  out << "\n";
}

ordered_json CalibrationToJson(const planner::CalibrationRequest& request,
                               const planner::CalibrationResult& result) {
  const UndecidedConstants undecided = Undecided(request, result);
  CalibrationText text{
      .rows = static_cast<int64_t>(result.rows.size()),
      .other_rows = result.other_rows,
      .unmeasured_rows = result.unmeasured_rows,
      .unmodelled_rows = result.unmodelled_rows(),
      .refusals = result.refusals,
      .cluster = result.fit.cluster.calibration,
      .framework = result.fit.profile.calibration,
      .undecided = undecided.all,
      .moved_undecided = undecided.moved,
      .moved_to_bound = undecided.moved_to_bound,
      .step_time_sigma = result.fit.step_time_sigma,
      .step_time_sigma_before = planner::FittedSpread(request.cluster, request.profile),
      .sweeps = {},
      .residuals = {}};
  for (const auto& [sweep, error] : ErrorsBySweep(result)) {
    text.sweeps.push_back({sweep, error.rows, error.mean()});
  }
  for (size_t i = 0; i < result.rows.size(); ++i) {
    text.residuals.push_back({result.sweeps[i], planner::FormatLayout(result.rows[i].layout),
                              result.rows[i].step_s, result.fit.residuals[i]});
  }
  return planner::WriteOrderedJson(text);
}

}  // namespace meshwright::cli
