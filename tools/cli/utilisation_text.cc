#include "tools/cli/utilisation_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "tools/cli/text.h"

namespace meshwright {

void AddUtilisationRows(const TrialResult& result, const Estimate& predicted, Table& table) {
  const auto add = [&](const char* definition, double peak_flops, const char* whose,
                       double measured_mfu, const std::string& predicted_mfu) {
    table.Add({absl::StrCat("MFU (", definition, ") of ", FormatFlops(peak_flops), ", ", whose),
               FormatPercent(measured_mfu), predicted_mfu});
  };
  if (result.peak_flops.has_value()) {
    add("PaLM", *result.peak_flops, "planned", result.mfu_of_peak, FormatPercent(predicted.mfu));
    add("causal", *result.peak_flops, "planned", result.mfu_causal_of_peak,
        FormatPercent(predicted.mfu_causal));
  }
  add("PaLM", result.measured_peak_flops, "measured", result.mfu, "-");
  add("causal", result.measured_peak_flops, "measured", result.mfu_causal, "-");
}

}  // namespace meshwright
