// A measured run as the planner sees it: the specs and the layout that an estimate takes, or why
// there is none.
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
  const FrameworkProfile* profile = nullptr;  // one of the presets'
  int64_t devices = 0;

  EstimateContext context() const { return {model, cluster, training, *profile}; }
};

struct RowPlan {
  // Set as soon as model, hardware and batch are known, for that is enough to work out the MFU of
  // what was measured.
  std::optional<PlannedRow> row;
  // Set where CheckLayout() accepts the layout, so that the estimate applies.
  std::optional<Layout> layout;
  // One sentence with a column and its value, or the rule that the layout breaks; empty where
  // `layout` is set.
  std::string reason;
  std::string subject;  // what the reason is about: the column, the name of the rule, kUnreadable
};

// The subject of rows that hold what can't be read or what no run can have.
inline constexpr std::string_view kUnreadable = "unreadable";
// The reason of such a row, with its line in its file.
std::string AtLine(const Measurement& row, std::string_view problem);

// A row without a global batch is planned with the least that it can have had, where it has no
// pipeline and states no speed: what its run held does not depend on it.
RowPlan PlanRow(const Measurement& row, const MeasurementPresets& presets);

}  // namespace meshwright::planner
