// Writes an estimate, and a search's counts, in the JSON form that the store keeps. The fields are
// those that commands print (planner/report/estimate_fields.h).
#pragma once

#include "nlohmann/json.hpp"
#include "planner/search/search.h"

namespace meshwright::planner {

// Returns a layout with its estimate. The server reads it back from the store as
// v1::LayoutEstimate.
nlohmann::ordered_json LayoutToJson(const Layout& layout, const Estimate& estimate);
// Returns a search's counts.
nlohmann::ordered_json FunnelToJson(const Funnel& funnel);

}  // namespace meshwright::planner
