#include "planner/report/rests_on.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/amounts.h"
#include "planner/estimate/step_interval.h"

namespace meshwright::planner {
namespace {

// A fit that leaves more than this share of a data sheet's error counts as one of few runs.
constexpr double kFewRuns = 0.25;

std::string RunsOf(const PresetEvidence& preset) {
  std::string text = absl::StrCat("fitted to ", Grouped(preset.rows), " measured run",
                                  preset.rows == 1 ? "" : "s");
  if (preset.sources.empty()) return text;
  absl::StrAppend(&text, " of ", preset.sources.size(),
                  preset.sources.size() == 1 ? " source (" : " sources (",
                  absl::StrJoin(preset.sources, ", "), ")");
  return text;
}

std::string ClusterWords(const PresetEvidence& cluster, Evidence evidence) {
  switch (evidence) {
    case Evidence::kAssumption:
      return "orders of magnitude, no measured run";
    case Evidence::kDataSheet:
      return "data sheet only, no measured run: the interval is wider";
    case Evidence::kBenchmark:
      return "its parts were measured by a benchmark, no training run";
    case Evidence::kRuns:
      return absl::StrCat(RunsOf(cluster), ShareLeftOpen(cluster.rows) > kFewRuns
                                               ? ", so few that the interval is wider"
                                               : "");
  }
  return "";
}

}  // namespace

RestsOn RestsOnOf(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const ModelSpec& model, const TrainedParts& parts) {
  const bool fitted = profile.calibration.rows > 0;
  RestsOn rests_on;
  rests_on.cluster = EvidenceOf(cluster);
  rests_on.framework = EvidenceOf(profile);
  rests_on.step_time_sigma = StepTimeSigma(cluster, profile, model, parts);
  const bool together = fitted && cluster.calibration.command == profile.calibration.command;
  const std::string presets =
      together ? absl::StrCat(cluster.name, " and ", profile.name, ": together ",
                              ClusterWords(rests_on.cluster, cluster.rests_on))
               : absl::StrCat(cluster.name, ": ", ClusterWords(rests_on.cluster, cluster.rests_on),
                              "; ", profile.name, ": ",
                              fitted ? RunsOf(rests_on.framework) : "not fitted to runs");
  rests_on.sentence = absl::StrFormat(
      "%s%s%s; 80 %% of runs are within a factor of %.2f of the predicted step", presets,
      HasUnfittedLayers(model)
          ? "; no run with recurrences or sparse attention was fitted, so the interval is wider"
          : "",
      parts.all() ? "" : "; no run that freezes weights was fitted, so the interval is wider",
      StepSpread(cluster, profile, model, parts));
  return rests_on;
}

}  // namespace meshwright::planner
