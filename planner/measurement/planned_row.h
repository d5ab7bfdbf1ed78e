// RowPlan holds the specs and the layout that an estimate of a measured run needs, or the reason
// why the run can't be estimated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Every spec passed its Validate().
struct PlannedRow {
  ModelSpec model;
  ClusterSpec cluster;
  TrainingSpec training;
  const FrameworkProfile* profile = nullptr;  // points to one of the presets
  int64_t devices = 0;

  EstimateContext context() const { return {model, cluster, training, *profile}; }
};

struct RowPlan {
  // Set if model, hardware and batch are known. These three suffice to compute the MFU of the
  // measured step.
  std::optional<PlannedRow> row;
  // Set if CheckLayout() accepts the layout, so that the estimate applies.
  std::optional<Layout> layout;
  // One sentence with a column and its value, or the rule that the layout breaks; empty if `layout`
  // is set.
  std::string reason;
  std::string subject;  // the subject of `reason`: a column, a rule's name, or kUnreadable
};

// The subject of a row that has a cell with an unreadable or an impossible value.
inline constexpr std::string_view kUnreadable = "unreadable";
// Returns the reason of such a row: `problem` with the line of the row in its file.
std::string AtLine(const Measurement& row, std::string_view problem);

// Returns the plan of a row. The plan chooses the micro-batch and the recompute that the row does
// not state (planner/measurement/unsaid_choices.h). The global batch may be empty if the row has no
// pipeline and gives no speed. The plan then takes the smallest possible batch, because the memory
// of such a run does not depend on the batch.
RowPlan PlanRow(const Measurement& row, const MeasurementPresets& presets);

}  // namespace meshwright::planner
