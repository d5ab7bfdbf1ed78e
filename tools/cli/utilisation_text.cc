#include "tools/cli/utilisation_text.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright {

void AddUtilisationRows(const TrialResult& result, const Estimate& predicted, Table& table) {
  const auto add = [&](const char* definition, double peak_flops, const char* whose,
                       double measured_mfu, double predicted_mfu) {
    table.Add({absl::StrCat("MFU (", definition, ") of ", FormatFlops(peak_flops), ", ", whose),
               FormatPercent(measured_mfu), FormatPercent(predicted_mfu)});
  };
  if (!result.peak_flops.has_value()) {
    // What was predicted is against a peak that nothing tells.
    table.Add({"MFU (PaLM) of the measured peak", FormatPercent(result.mfu), "-"});
    table.Add({"MFU (causal) of the measured peak", FormatPercent(result.mfu_causal), "-"});
    return;
  }
  const double planned_flops = *result.peak_flops;
  add("PaLM", planned_flops, "planned", result.mfu_of_peak, predicted.mfu);
  add("causal", planned_flops, "planned", result.mfu_causal_of_peak, predicted.mfu_causal);
  if (!(result.measured_peak_flops > 0.0)) return;
  const double ratio = planned_flops / result.measured_peak_flops;
  add("PaLM", result.measured_peak_flops, "measured", result.mfu, ratio * predicted.mfu);
  add("causal", result.measured_peak_flops, "measured", result.mfu_causal,
      ratio * predicted.mfu_causal);
}

}  // namespace meshwright
