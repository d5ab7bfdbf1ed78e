#include "planner/report/calibrated_note.h"

#include "absl/strings/str_cat.h"
#include "base/text/amounts.h"
#include "planner/catalog/catalog.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

std::optional<std::string> CalibratedNote(const SearchRequest& request, const Layout& layout,
                                          const Estimate& estimate) {
  const std::string& preset = request.cluster.calibrated_from;
  if (preset.empty()) return std::nullopt;
  absl::StatusOr<ClusterSpec> uncalibrated =
      FindCluster(preset, /*host_cores=*/request.cluster.physical_cores);
  if (!uncalibrated.ok()) return std::nullopt;
  SearchRequest with_preset = request;
  with_preset.cluster = *std::move(uncalibrated);
  // The preset's nodes may be larger or smaller than those that were measured.
  with_preset.cluster.devices_per_node = request.cluster.devices_per_node;
  const absl::StatusOr<Estimate> predicted = CheckAndEstimate(with_preset, layout);
  if (!predicted.ok()) return std::nullopt;
  return absl::StrCat("without calibration, ", preset, " predicts a step of ",
                      Seconds(predicted->time.step_s()), " for ", FormatLayout(layout),
                      ", where the calibrated cluster predicts ", Seconds(estimate.time.step_s()));
}

}  // namespace meshwright::planner
