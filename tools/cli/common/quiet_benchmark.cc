#include "tools/cli/common/quiet_benchmark.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/text/status_macros.h"

namespace meshwright::cli {

absl::StatusOr<QuietBenchmark> MeasureWhileQuiet(
    absl::FunctionRef<absl::StatusOr<planner::DeviceBenchmark>()> measure,
    absl::FunctionRef<double()> idle_share, absl::FunctionRef<void(double idle_share)> on_busy) {
  std::optional<QuietBenchmark> best;
  double before = idle_share();
  for (int32_t run = 0; run < kMostBenchmarks; ++run) {
    QuietBenchmark made;
    ASSIGN_OR_RETURN(made.benchmark, measure());
    const double after = idle_share();
    made.idle_share = std::min(before, after);
    before = after;
    if (!best || made.idle_share > best->idle_share) best = std::move(made);
    if (best->quiet()) break;
    on_busy(best->idle_share);
  }
  return *std::move(best);
}

void MarkBusy(double idle_share, planner::ClusterSpec& cluster) {
  cluster.rests_on = planner::Evidence::kAssumption;
  cluster.device.step_time_sigma =
      std::max(cluster.device.step_time_sigma,
               planner::AssumedStepTimeSigma(planner::Evidence::kAssumption));
  absl::StrAppendFormat(
      &cluster.source,
      "; measured on a busy machine, whose processors were idle for %.0f %% of the "
      "time beside the benchmark",
      100.0 * idle_share);
}

}  // namespace meshwright::cli
