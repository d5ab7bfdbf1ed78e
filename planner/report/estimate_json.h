// The JSON form of an estimate and of a search, which every command prints and the store keeps.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/search/search.h"

namespace meshwright::planner {

// By their fields (planner/report/estimate_fields.h). The store keeps the first and reads it as
// v1::LayoutEstimate.
nlohmann::ordered_json LayoutToJson(const Layout& layout, const Estimate& estimate);
nlohmann::ordered_json FunnelToJson(const Funnel& funnel);

}  // namespace meshwright::planner
