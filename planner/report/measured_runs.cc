#include "planner/report/measured_runs.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"

namespace meshwright::planner {
namespace {

// Published steps lie within a factor of 3 of their estimates, but for a handful.
constexpr double kDoubtful = 3.0;

bool IsDoubtful(double measured, double predicted) {
  return std::abs(std::log(measured / predicted)) > std::log(kDoubtful);
}

}  // namespace

std::vector<MeasuredRunReport> MeasuredRunsOf(const SearchRequest& request) {
  std::vector<MeasuredRunReport> reports;
  for (const OwnRun& run : request.own_runs) {
    MeasuredRunReport report = {.layout = FormatLayout(run.layout),
                                .out_of_memory = run.out_of_memory,
                                .measured_step_s = run.step_s,
                                .step_before_s = run.step_before_s,
                                .measured_peak_bytes = run.peak_bytes,
                                .peak_before_bytes = run.peak_before_bytes};
    report.step_s = report.step_before_s * request.correction->StepFactor(run.layout);
    report.peak_bytes = request.correction->PeakBytes(report.peak_before_bytes);
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<std::string> NotesOnMeasured(const std::vector<MeasuredRunReport>& runs) {
  std::vector<std::string> notes;
  for (const MeasuredRunReport& run : runs) {
    if (run.measured_step_s && IsDoubtful(*run.measured_step_s, run.step_before_s)) {
      notes.push_back(absl::StrFormat(
          "the measured step of %s is %s, and the estimate is %s: is it of this model, this batch "
          "and this unit?",
          run.layout, Seconds(*run.measured_step_s), Seconds(run.step_before_s)));
    }
    if (run.measured_peak_bytes && IsDoubtful(static_cast<double>(*run.measured_peak_bytes),
                                              static_cast<double>(run.peak_before_bytes))) {
      notes.push_back(absl::StrFormat(
          "the measured memory of %s is %s, and the estimate is %s: is it of this model, this "
          "batch and this unit?",
          run.layout, Gib(*run.measured_peak_bytes), Gib(run.peak_before_bytes)));
    }
  }
  return notes;
}

}  // namespace meshwright::planner
