#include "planner/report/rests_on.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/amounts.h"
#include "base/text/string_view.h"
#include "planner/estimate/step_interval.h"

namespace meshwright::planner {
namespace {

// A fit that leaves more than this share of a data sheet's error counts as a fit of few runs.
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
      return "assumed figures, no measured run: the interval is wider";
    case Evidence::kUnverified:
      return "figures of a data sheet that nobody checked yet, no measured run: the interval is "
             "wider";
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

// Returns which of the cluster's figures differ from the preset on which the cluster is based:
// "device is yours"; empty if none does.
std::string UnmeasuredParts(const ClusterSpec& cluster) {
  if (cluster.unmeasured.empty()) return "";
  std::vector<std::string> parts;
  cluster.unmeasured.ForEach([&](ClusterPart part) {
    parts.emplace_back(part == ClusterPart::kDevice        ? "device"
                       : part == ClusterPart::kLinksInside ? "links inside a node"
                                                           : "network between nodes");
  });
  return absl::StrCat(absl::StrJoin(parts, " and "), parts.size() > 1 ? " are yours" : " is yours");
}

std::string UnmeasuredWords(const ClusterSpec& cluster) {
  const std::string yours = UnmeasuredParts(cluster);
  if (yours.empty()) return "";
  return cluster.rests_on == Evidence::kRuns
             ? absl::StrCat(", but its ", yours, " and unmeasured: the interval is wider")
             : absl::StrCat(" (its ", yours, ")");
}

// Returns why the interval is wider than the presets' own, with "; " before each reason.
std::string UnfittedWords(const EnumSet<Unfitted>& unfitted) {
  std::string words;
  unfitted.ForEach([&](Unfitted part) {
    absl::StrAppend(&words, "; ", AbslView(UnfittedPartOf(part).reason),
                    ", so the interval is wider");
  });
  return words;
}

std::vector<std::string> UncoveredParts(const ClusterSpec& cluster,
                                        const EnumSet<Unfitted>& unfitted) {
  std::vector<std::string> parts;
  if (cluster.rests_on == Evidence::kRuns && !cluster.unmeasured.empty()) {
    parts.push_back(absl::StrCat("the cluster's ", UnmeasuredParts(cluster)));
  }
  unfitted.ForEach([&](Unfitted part) { parts.emplace_back(UnfittedPartOf(part).reason); });
  return parts;
}

std::string_view LevelWords(EvidenceLevel level) {
  switch (level) {
    case EvidenceLevel::kFittedSource:
      return "fitted to runs of yours";
    case EvidenceLevel::kFrameworkAndChip:
      return "both fitted to runs of others, none of yours";
    case EvidenceLevel::kFramework:
      return "no run on this device";
    case EvidenceLevel::kChip:
      return "no run with this framework";
    case EvidenceLevel::kNeither:
      break;
  }
  return "no run on this device or with this framework";
}

}  // namespace

namespace {

// Returns the geometric mean of after / before.
template <typename Before, typename After>
double MeanFactor(const std::vector<MeasuredRunReport>& runs, const Before& before,
                  const After& after) {
  double sum = 0.0;
  for (const MeasuredRunReport& run : runs) {
    sum += std::log(static_cast<double>(run.*after) / static_cast<double>(run.*before));
  }
  return std::exp(sum / static_cast<double>(runs.size()));
}

std::string CorrectedWords(const std::vector<MeasuredRunReport>& runs) {
  return absl::StrFormat(
      "corrected by %d run%s of yours, whose steps became %.2f and whose memory became %.2f of the "
      "estimate",
      runs.size(), runs.size() == 1 ? "" : "s",
      MeanFactor(runs, &MeasuredRunReport::step_before_s, &MeasuredRunReport::step_s),
      MeanFactor(runs, &MeasuredRunReport::peak_before_bytes, &MeasuredRunReport::peak_bytes));
}

}  // namespace

RestsOn RestsOnOf(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const ModelSpec& model, const TrainingSpec& training,
                  std::vector<MeasuredRunReport> measured, std::optional<double> spread) {
  const bool fitted = profile.calibration.rows > 0;
  const EnumSet<Unfitted> unfitted = UnfittedOf(model, training, cluster.device_kind());
  RestsOn rests_on;
  rests_on.cluster = EvidenceOf(cluster);
  rests_on.framework = EvidenceOf(profile);
  rests_on.step_time_sigma = StepTimeSigma(cluster, profile, unfitted);
  const bool together = fitted && cluster.calibration.command == profile.calibration.command;
  const std::string of_cluster =
      absl::StrCat(ClusterWords(rests_on.cluster, cluster.rests_on), UnmeasuredWords(cluster));
  const std::string presets =
      together ? absl::StrCat(cluster.name, " and ", profile.name, ": together ", of_cluster)
               : absl::StrCat(cluster.name, ": ", of_cluster, "; ", profile.name, ": ",
                              fitted ? RunsOf(rests_on.framework) : "not fitted to runs");
  rests_on.level = LevelOf(cluster, profile);
  rests_on.uncovered = UncoveredParts(cluster, unfitted);
  const StepInterval interval = spread ? StepInterval{.low = 1.0 / *spread, .high = *spread}
                                       : StepIntervalOf(cluster, profile, unfitted, rests_on.level);
  const std::string origin =
      measured.empty() ? std::string(LevelWords(rests_on.level)) : CorrectedWords(measured);
  rests_on.sentence =
      absl::StrFormat("%s%s; %s: 80 %% of runs%s take %.2f to %.2f of the %s step", presets,
                      UnfittedWords(unfitted), origin, spread ? " like these" : "", interval.low,
                      interval.high, spread ? "corrected" : "predicted");
  rests_on.attention_kernel = profile.AttentionOf(Layout());
  rests_on.measured = std::move(measured);
  return rests_on;
}

}  // namespace meshwright::planner
