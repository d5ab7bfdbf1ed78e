#include "tools/cli/common/utilisation_text.h"

#include "absl/strings/str_cat.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {

void AddUtilisationRows(const trial::TrialResult& result, const planner::Estimate& predicted,
                        Table& table) {
  const bool comparable = result.peak_flops.has_value();
  table.Add({"MFU (PaLM)", FormatPercent(comparable ? result.mfu_of_peak : result.mfu),
             comparable ? FormatPercent(predicted.mfu) : "-"});
  table.Add({"MFU (causal)",
             FormatPercent(comparable ? result.mfu_causal_of_peak : result.mfu_causal),
             comparable ? FormatPercent(predicted.mfu_causal) : "-"});
}

void PrintPeak(const trial::TrialResult& result, std::string_view cluster, std::ostream& out) {
  if (!result.peak_flops.has_value()) {
    out << "MFU is a share of the " << FormatFlops(result.measured_peak_flops)
        << " that each rank reached in large products before\n";
    return;
  }
  out << "MFU is a share of " << FormatFlops(*result.peak_flops) << " a rank, the stated peak of "
      << cluster << "\n";
  if (result.measured_peak_flops > 0.0) {
    out << "large products reached " << FormatFlops(result.measured_peak_flops)
        << " a rank before the steps, "
        << FormatPercent(result.measured_peak_flops / *result.peak_flops) << " of that peak\n";
  }
  const std::string why =
      WhyAboveOne(result.mfu_of_peak, result.mfu_causal_of_peak, *result.peak_flops);
  if (!why.empty()) out << why << "\n";
}

std::string PeakSource(const planner::ClusterSpec& cluster) {
  return cluster.source.empty() ? cluster.name : absl::StrCat(cluster.name, ": ", cluster.source);
}

std::string WhyAboveOne(double mfu, double mfu_causal, double peak_flops) {
  if (mfu_causal > 1.0) {
    return absl::StrCat("MFU above 100 %: the step beat the stated peak of ",
                        FormatFlops(peak_flops),
                        " per rank, so the stated peak is too low for this machine; measure a "
                        "cluster file here with `meshwright benchmark`");
  }
  if (mfu > 1.0) {
    return "MFU above 100 %: PaLM's definition counts the input embedding, which is never "
           "multiplied, and attention as if it were not causal; the causal MFU leaves out the "
           "embedding and half of attention";
  }
  return "";
}

}  // namespace meshwright::cli
